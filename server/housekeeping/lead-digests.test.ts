import assert from 'node:assert/strict';
import { it } from 'node:test';

import { startHousekeeping } from '#server/housekeeping/housekeeping.ts';
import { DAY_MS } from '#server/platform/time.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { withServer } from '#testing/server-under-test.ts';

const OPERATOR = 'you@example.com';
const NEWS = { OPERATOR_EMAIL: OPERATOR, NEW_LEAD_EMAIL: 'daily', NEW_LEAD_EMAIL_AT: '00:00' };

it('a running server mails the operator the previous day’s leads', () =>
  withServer({ engine: 'sqlite', env: NEWS }, async (server) => {
    await becomeLead(server, 'ada@example.com');
    await server.advance(DAY_MS / 1000);
    const housekeeping = startHousekeeping(server.service);
    server.wakeWorker();
    const { parsed } = await server.inbox.waitForMail(OPERATOR);
    housekeeping.stop();
    assert.match(parsed.subject ?? '', /^1 new lead on /);
  }));
