import assert from 'node:assert/strict';
import path from 'node:path';
import { it } from 'node:test';

import { sql } from 'kysely';
import { v7 as uuid } from 'uuid';

import { DAY_MS } from '#server/platform/time.ts';
import { openTestDatabase } from '#testing/databases.ts';
import { inFolder } from '#testing/folder.ts';
import { startInbox } from '#testing/inbox.ts';
import { becomeLeadAt } from '#testing/post-json.ts';
import { siteSettings, startSiteProcess } from '#testing/start-site.ts';

const OPERATOR = 'you@example.com';

it('a running server mails the operator the previous day’s leads', () =>
  inFolder(async (folder) => {
    await using inbox = await startInbox();
    const settings = siteSettings('file:./data/leads.db', inbox);
    const first = await startSiteProcess(settings, folder);
    await becomeLeadAt(first.url, inbox);
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
