// The running server tells of a day, and loads no more for it than it needs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { it } from 'node:test';

import { sql } from 'kysely';
import { v7 as uuid } from 'uuid';

import { openDatabase } from '#server/db/engine/connect.ts';
import { DAY_MS } from '#server/platform/time.ts';
import { API } from '#shared/api.ts';
import { codeIn, startInbox } from '#testing/inbox.ts';
import { filledForm } from '#testing/server-under-test.ts';
import { siteSettings, startSiteProcess, type SiteProcess } from '#testing/start-site.ts';

const OPERATOR = 'you@example.com';

/** Has Node write down each part of the drawing library that is loaded. */
const noting = (file: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    `import { registerHooks } from 'node:module';
     import { appendFileSync } from 'node:fs';
     registerHooks({ resolve(name, context, next) {
       const found = next(name, context);
       if (/node_modules.(echarts|zrender)/.test(found.url)) appendFileSync(${JSON.stringify(file)}, found.url + '\\n');
       return found;
     } });`,
  )}`,
});

async function becomeLead(site: SiteProcess, code: () => Promise<string>): Promise<void> {
  const post = (api: string, body: object, cookie = '') =>
    fetch(`${site.url}${api}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify(body),
    });
  const asked = await post(API.leads, filledForm());
  assert.equal(asked.status, 202);
  const cookie = asked.headers.getSetCookie()[0]?.split(';')[0];
  const verified = await post(API.verify, { email: 'ada@example.com', code: await code() }, cookie);
  assert.equal(verified.status, 200);
}

it('a server that counts a day for the operator never loads what draws the report', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'news-'));
  const inbox = await startInbox();
  const drawing = path.join(folder, 'drawing');
  const control = path.join(folder, 'control');
  try {
    const settings = siteSettings('file:./data/leads.db', inbox);
    const first = await startSiteProcess(settings, folder);
    await becomeLead(first, async () => codeIn(await inbox.waitForMail('ada@example.com')));
    await first.stop('SIGINT');

    const before = Date.now() - DAY_MS;
    const { db, close } = openDatabase(
      { engine: 'sqlite', file: path.join(folder, 'data', 'leads.db') },
      () => {},
    );
    await sql`update leads set first_verified_at = ${before}`.execute(db);
    await sql`delete from consent_chain`.execute(db);
    await sql`update consent_receipts set id = ${uuid({ msecs: before })}, verified_at = ${before}`.execute(
      db,
    );
    await close();

    const news = { OPERATOR_EMAIL: OPERATOR, NEW_LEAD_EMAIL: 'daily', NEW_LEAD_EMAIL_AT: '00:00' };
    const second = await startSiteProcess({ ...settings, ...news, ...noting(drawing) }, folder);
    try {
      const { parsed } = await inbox.waitForMail(OPERATOR);
      assert.match(parsed.subject ?? '', /^1 new lead on /);
      assert.equal(existsSync(drawing) ? readFileSync(drawing, 'utf8') : '', '');
    } finally {
      await second.stop('SIGINT');
    }

    const report = import.meta.resolve('#desk/report/report-page.ts');
    execFileSync(process.execPath, ['--input-type=module', '-e', `await import(${JSON.stringify(report)})`], {
      env: { ...process.env, ...noting(control) },
    });
    assert.match(readFileSync(control, 'utf8'), /echarts/, 'and it would have been noticed');
  } finally {
    await inbox.close();
    rmSync(folder, { recursive: true });
  }
});
