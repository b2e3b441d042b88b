// Test tables are too small to show slow queries, so this checks SQLite's query plans.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';

import { v7 as uuid } from 'uuid';

import { expirySteps, takeStep } from '#server/db/queries/expiry.ts';
import { countLeads, leadGroups } from '#server/db/queries/report-figures.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { leadPages } from '#server/db/contacts/people.ts';
import { countAttemptOfBrowser, findChallenge } from '#server/codes/challenges.ts';
import { codesOfAddress } from '#server/codes/codes.ts';
import { newestSuppressions } from '#server/db/tables/suppressions.ts';
import { listEvents } from '#server/db/tables/webhook-events.ts';
import { takeEvents } from '#server/jobs/webhook-jobs.ts';
import { freshDatabase } from '#testing/databases.ts';
import { leadRow } from '#testing/lead-row.ts';

async function plansOf(work: (database: OpenDatabase) => Promise<unknown>): Promise<readonly string[]> {
  const database = await freshDatabase('sqlite');
  const plans: string[] = [];
  // oxlint-disable-next-line typescript/unbound-method -- it is called on its own object.
  const { prepare } = DatabaseSync.prototype;
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, text) {
    if (/^\s*(?:select|with|update|delete)/i.test(text))
      for (const { detail } of prepare.call(this, `explain query plan ${text}`).all())
        plans.push(String(detail));
    return prepare.call(this, text);
  };
  try {
    await work(database);
    return plans;
  } finally {
    DatabaseSync.prototype.prepare = prepare;
    await database.close();
  }
}

const now = 1_800_000_000_000;
const day = { from: now - 86_400_000, to: now };

const STORIES: readonly {
  readonly what: string;
  readonly work: (database: OpenDatabase) => Promise<unknown>;
  readonly never: RegExp;
  readonly once: RegExp;
}[] = [
  {
    what: 'a thousand retried webhook events are due at once',
    work: (database) => takeEvents(database.db, { endpoint: 'e', now, limit: 4, leaseMs: 1, leaseId: 'l' }),
    never: /TEMP B-TREE/,
    once: /webhook_events_due \(endpoint=\? AND due_at<\?\)/,
  },
  {
    what: 'the desk lists waiting webhook events among a million sent ones',
    work: ({ db }) => listEvents(db, 100),
    never: /autoindex|TEMP B-TREE/,
    once: /webhook_events_queued/,
  },
  {
    what: 'the desk shows the newest suppressions',
    work: ({ db }) => newestSuppressions(db, { after: null, most: 100 }),
    never: /TEMP B-TREE/,
    once: /suppressions_newest/,
  },
  {
    what: 'the desk shows the next page of suppressions',
    work: ({ db }) =>
      newestSuppressions(db, {
        after: { created_at: now, address_key: 'k', reason: 'bounced' },
        most: 100,
      }),
    never: /TEMP B-TREE/,
    once: /suppressions_newest \(created_at<\?\)/,
  },
  {
    what: 'a browser asks which of its thousand challenges is open',
    work: ({ db }) => findChallenge(db, 'open', { browserId: 'b', now }),
    never: /SCAN/,
    once: /submissions_of_browser \(browser_id=\? AND expires_at>\?\)/,
  },
  {
    what: 'a browser asks which of its thousand challenges was verified',
    work: ({ db }) => findChallenge(db, 'verified', { browserId: 'b', email: 'e', now }),
    never: /SCAN/,
    once: /submissions_of_browser \(browser_id=\? AND expires_at>\?\)/,
  },
  {
    what: 'a browser enters a code',
    work: ({ db }) => countAttemptOfBrowser(db, { browserId: 'b', email: 'e', mostAttempts: 5, now }),
    never: /SCAN/,
    once: /submissions_of_browser \(browser_id=\? AND expires_at>\?\)/,
  },
  {
    what: 'the codes of an e-mail address are counted across its erasure',
    work: ({ db }) => codesOfAddress(db, ['e', 'pseudonym'], { unexpiredAt: now }, now),
    never: /SCAN/,
    once: /codes_by_email \(email=\?\)/,
  },
  {
    what: 'housekeeping keeps most suppressions',
    work: async (database) => {
      const db = database.db;
      const entry = { reason: 'bounced', email: 'a@example.com', created_at: 1, note: null } as const;
      await db
        .insertInto('suppressions')
        .values([
          { ...entry, address_key: 'a' },
          { ...entry, address_key: 'b' },
        ])
        .execute();
      const steps = expirySteps({ unverified: now, mail: null, windows: now, funnel: 0 });
      for (const step of steps) await takeStep(database.db, step, 1);
    },
    never: /SCAN s\b/,
    once: /SEARCH s USING INDEX \w+ \(address_key>\? AND address_key<\?\)/,
  },
  {
    what: 'an export of new leads skips a million exported ones',
    work: async (database) => {
      await insertLead(database);
      await Array.fromAsync(leadPages(database.db, 'verified', { missingIn: 'crm' }));
    },
    never: /SEARCH person USING INDEX \w+ \(id>\?\)$/,
    once: /SEARCH person USING INDEX \w+ \(id>\? AND id<\?\)/,
  },
  {
    what: 'the leads of one day are counted among those of years',
    work: async (database) => {
      await insertLead(database);
      await countLeads(database.db, day);
      await Array.fromAsync(leadGroups(database.db, { ...day, timeZone: 'Europe/Berlin' }));
    },
    never: /SCAN leads(?! USING INDEX)/,
    once: /SEARCH leads USING INDEX \w+ \(id>\? AND id<\?\)/,
  },
];

const insertLead = ({ db }: OpenDatabase) =>
  db
    .insertInto('leads')
    .values(leadRow(uuid({ msecs: now - 1000 }), {}))
    .execute();

for (const { what, work, never, once } of STORIES)
  it(`a long table stays fast when ${what}`, async () => {
    const plans = await plansOf(work);
    assert.doesNotMatch(plans.filter((line) => never.test(line)).join('\n'), /./);
    assert.ok(
      plans.some((line) => once.test(line)),
      plans.join('\n'),
    );
  });
