import assert from 'node:assert/strict';
import path from 'node:path';
import { it } from 'node:test';

import { sql } from 'kysely';
import { v7 as uuid } from 'uuid';

import { DAY_MS } from '#server/platform/time.ts';
import { API } from '#shared/api.ts';
import { openTestDatabase } from '#testing/databases.ts';
import { inFolder } from '#testing/folder.ts';
import { codeIn, startInbox } from '#testing/inbox.ts';
import { filledForm } from '#testing/server-under-test.ts';
import { siteSettings, startSiteProcess, type SiteProcess } from '#testing/start-site.ts';

const OPERATOR = 'you@example.com';

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

it('a running server mails the operator the previous day’s leads', () =>
  inFolder(async (folder) => {
    await using inbox = await startInbox();
    const settings = siteSettings('file:./data/leads.db', inbox);
    const first = await startSiteProcess(settings, folder);
    await becomeLead(first, async () => codeIn(await inbox.waitForMail('ada@example.com')));
    await first.stop('SIGINT');

    const before = Date.now() - DAY_MS;
    {
      const file = path.join(folder, 'data', 'leads.db');
      await using database = openTestDatabase({ engine: 'sqlite', file });
      const { db } = database;
      await sql`update leads set first_verified_at = ${before}`.execute(db);
      await sql`delete from consent_chain`.execute(db);
      await sql`update consent_receipts set id = ${uuid({ msecs: before })}, verified_at = ${before}`.execute(
        db,
      );
    }

    const news = { OPERATOR_EMAIL: OPERATOR, NEW_LEAD_EMAIL: 'daily', NEW_LEAD_EMAIL_AT: '00:00' };
    const second = await startSiteProcess({ ...settings, ...news }, folder);
    try {
      const { parsed } = await inbox.waitForMail(OPERATOR);
      assert.match(parsed.subject ?? '', /^1 new lead on /);
    } finally {
      await second.stop('SIGINT');
    }
  }));
