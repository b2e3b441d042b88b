import path from 'node:path';

import { openTestDatabase } from '#testing/databases.ts';
import type { PreparedSite } from '#testing/start-site.ts';
import type { Ledger } from '#stress/harness/visitors.ts';

type WithDatabase = Pick<PreparedSite, 'databaseUrl' | 'folder'>;
export type SiteWithInbox = WithDatabase & Pick<PreparedSite, 'inbox'>;

export type Account = {
  /** 202 without an e-mail. */
  readonly lostMails: number;
  /** 202 and an e-mail, but no lead. */
  readonly lostLeads: number;
  /** 200 without a lead. */
  readonly falseSuccesses: number;
  readonly withoutReceipt: number;
  /** Mails, leads and false successes. */
  readonly lost: number;
  /** Leads whose visitor got no 200. */
  readonly unacknowledgedLeads: number;
  /** Mails that repeat an earlier Message-ID. */
  readonly duplicates: number;
  readonly mails: number;
};

export function databaseOf({ databaseUrl, folder }: WithDatabase) {
  return openTestDatabase(
    databaseUrl.startsWith('file:')
      ? { engine: 'sqlite', file: path.resolve(folder, databaseUrl.slice('file:'.length)) }
      : { engine: 'postgres', url: databaseUrl },
  );
}

export async function leadsIn(site: WithDatabase): Promise<{ leads: Set<string>; withoutReceipt: number }> {
  await using database = databaseOf(site);
  const leads = await database.db.selectFrom('leads').select('email').execute();
  const withoutReceipt = await database.db
    .selectFrom('leads')
    .leftJoin('consent_receipts', 'consent_receipts.lead_id', 'leads.id')
    .select('leads.id')
    .where('consent_receipts.id', 'is', null)
    .execute();
  return { leads: new Set(leads.map(({ email }) => email)), withoutReceipt: withoutReceipt.length };
}

export async function checkPromises(
  site: SiteWithInbox,
  ledger: Ledger,
  onBroken: (promise: string) => void,
): Promise<Account> {
  const { leads, withoutReceipt } = await leadsIn(site);
  const ids = site.inbox.mails.map(({ parsed }) => parsed.messageId);
  const unverified = [...ledger.unverified.keys()];
  const promises = {
    lostMails: ledger.unmailed.size,
    lostLeads: unverified.filter((email) => !leads.has(email)).length,
    falseSuccesses: [...ledger.verified].filter((email) => !leads.has(email)).length,
    withoutReceipt,
  };
  for (const [promise, count] of Object.entries(promises)) if (count > 0) onBroken(`${promise}: ${count}`);
  for (const line of new Set(ledger.badErrors)) onBroken(`an error without a sentence: ${line}`);
  return {
    ...promises,
    lost: promises.lostMails + promises.lostLeads + promises.falseSuccesses,
    unacknowledgedLeads: unverified.filter((email) => leads.has(email)).length,
    duplicates: ids.length - new Set(ids).size,
    mails: ids.length,
  };
}
