import assert from 'node:assert/strict';
import path from 'node:path';
import { it } from 'node:test';

import { DAY_MS } from '#server/platform/time.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { freshDatabase } from '#testing/databases.ts';
import { inFolder } from '#testing/folder.ts';
import { startInbox } from '#testing/inbox.ts';
import { withServer } from '#testing/server-under-test.ts';
import { siteSettings, startSiteProcess } from '#testing/start-site.ts';

const OPERATOR = 'you@example.com';

it('a running server mails the operator the previous day’s leads', () =>
  inFolder(async (folder) => {
    await using inbox = await startInbox();
    const database = await freshDatabase('sqlite', { file: path.join(folder, 'leads.db') });
    await withServer({ engine: 'sqlite', database }, async (server) => {
      server.setClock(Date.now() - DAY_MS);
      await becomeLead(server, 'ada@example.com');
    });
    const news = { OPERATOR_EMAIL: OPERATOR, NEW_LEAD_EMAIL: 'daily', NEW_LEAD_EMAIL_AT: '00:00' };
    const site = await startSiteProcess({ ...siteSettings('file:./leads.db', inbox), ...news }, folder);
    try {
      const { parsed } = await inbox.waitForMail(OPERATOR);
      assert.match(parsed.subject ?? '', /^1 new lead on /);
    } finally {
      await site.stop('SIGINT');
    }
  }));
