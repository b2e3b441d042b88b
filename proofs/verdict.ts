// What a harness finds in the database afterwards, and how it says that a promise was broken.
import path from 'node:path';

import { openDatabase } from '#server/db/engine/connect.ts';
import type { Inbox } from '#testing/inbox.ts';
import type { Ledger } from '#proofs/visitors.ts';

export type Account = {
  /** 202 without a mail. */
  readonly lostMails: number;
  /** 202 and a mail, but no lead in the database. */
  readonly lostLeads: number;
  /** 200 without a lead in the database. */
  readonly falseSuccesses: number;
  /** Leads without a consent receipt. */
  readonly withoutReceipt: number;
  /** Leads whose visitor never heard of the success: the answer was cut off after the commit. */
  readonly unheardSuccesses: number;
  /** Mails beyond the first with the same Message-ID. */
  readonly duplicates: number;
  readonly mails: number;
};

/** The address of a site's database, as this process can open it. */
export function databaseOf({ databaseUrl, folder }: { databaseUrl: string; folder: string }) {
  return databaseUrl.startsWith('file:')
    ? openDatabase(
        { engine: 'sqlite', file: path.resolve(folder, databaseUrl.slice('file:'.length)) },
        () => {},
      )
    : openDatabase({ engine: 'postgres', url: databaseUrl }, () => {});
}

/** The addresses of the leads of a site, and how many of them have no consent receipt. */
export async function leadsIn(site: {
  databaseUrl: string;
  folder: string;
}): Promise<{ leads: Set<string>; withoutReceipt: number }> {
  const { db, close } = databaseOf(site);
  try {
    const leads = await db.selectFrom('leads').select('email').execute();
    const withoutReceipt = await db
      .selectFrom('leads')
      .leftJoin('consent_receipts', 'consent_receipts.lead_id', 'leads.id')
      .select('leads.id')
      .where('consent_receipts.id', 'is', null)
      .execute();
    return { leads: new Set(leads.map(({ email }) => email)), withoutReceipt: withoutReceipt.length };
  } finally {
    await close();
  }
}

/** Compares what was promised with what is there. */
export async function settle(
  site: { databaseUrl: string; folder: string },
  inbox: Inbox,
  ledger: Ledger,
): Promise<Account> {
  const { leads, withoutReceipt } = await leadsIn(site);
  const ids = inbox.mails.map(({ parsed }) => parsed.messageId);
  return {
    lostMails: ledger.unmailed.size,
    lostLeads: [...ledger.unverified.keys()].filter((email) => !leads.has(email)).length,
    falseSuccesses: [...ledger.verified].filter((email) => !leads.has(email)).length,
    withoutReceipt,
    unheardSuccesses: [...ledger.unverified.keys()].filter((email) => leads.has(email)).length,
    duplicates: ids.length - new Set(ids).size,
    mails: ids.length,
  };
}

/** What may never happen, as sentences. */
export const brokenPromises = (account: Account): string[] =>
  (['lostMails', 'lostLeads', 'falseSuccesses', 'withoutReceipt'] as const)
    .filter((promise) => account[promise] > 0)
    .map((promise) => `${promise}: ${account[promise]}`);

/** Ends a harness: the process fails when a promise was broken. */
export function conclude(broken: readonly string[]): void {
  for (const sentence of broken) process.stderr.write(`BROKEN: ${sentence}\n`);
  if (broken.length > 0) process.exitCode = 1;
}
