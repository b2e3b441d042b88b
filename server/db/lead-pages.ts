// Verified leads, read a page at a time: a million need no more memory than a thousand, no statement lasts, and nobody who writes
// waits for one.
import { sql } from 'kysely';

import type { Db, OpenDatabase } from '#server/db/connect.ts';
import { statement, type Value } from '#server/db/statement.ts';

/** A lead with its newest consent. Times are milliseconds since 1970. */
export type LeadRecord = {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly company: string;
  readonly first_verified_at: number;
  readonly last_verified_at: number;
  /** JSON: where the visit came from (server/leads/attribution.ts). */
  readonly attribution: string;
  /** Separated by spaces. */
  readonly flags: string;
  readonly consent_given_at: number | null;
  readonly consent_version: string | null;
  readonly consent_text: string | null;
};

export type LeadFilter = {
  /** First verified then or later. Milliseconds since 1970. */
  readonly since?: number | undefined;
  /** First verified before. Milliseconds since 1970. */
  readonly until?: number | undefined;
  readonly flag?: string | undefined;
  /** Only those that no export of this name has had. */
  readonly missingIn?: string | undefined;
};

/** Each lead with its newest consent. */
const leadRecords = (db: Db) =>
  db
    .selectFrom('leads as l')
    .leftJoin('consent_receipts as r', (join) =>
      join.on('r.id', '=', (eb) =>
        eb
          .selectFrom('consent_receipts as newest')
          .select('newest.id')
          .whereRef('newest.lead_id', '=', 'l.id')
          .orderBy('newest.id', 'desc')
          .limit(1),
      ),
    )
    .leftJoin('consent_wordings as w', 'w.version', 'r.consent_version')
    .select([
      'l.id',
      'l.email',
      'l.name',
      'l.company',
      'l.first_verified_at',
      'l.last_verified_at',
      'l.attribution',
      'l.flags',
      'r.given_at as consent_given_at',
      'r.consent_version',
      'w.text as consent_text',
    ]);

type ById = { readonly id: string };
const recordWith = (db: Db, value: Value<ById>) => leadRecords(db).where('l.id', '=', value('id'));
const heldOn = {
  // It has one writer at a time.
  sqlite: statement((db, value: Value<ById>) => recordWith(db, value)),
  postgres: statement((db, value: Value<ById>) => recordWith(db, value).forUpdate('l')),
};

/**
 * One lead, held until the transaction ends: nobody changes it meanwhile.
 * @returns undefined when there is none
 */
export async function holdLeadRecord(
  tx: Db,
  engine: OpenDatabase['engine'],
  id: string,
): Promise<LeadRecord | undefined> {
  const { rows } = await heldOn[engine](tx, { id });
  return rows[0];
}

/** What becomes of so many is garbage before V8 takes it for something that stays. */
const PAGE_SIZE = 100;

/**
 * Reads leads, those first verified longest ago first. What becomes a lead meanwhile may come or not.
 * @returns pages that are not empty
 */
export async function* leadPages(
  db: Db,
  { since, until, flag, missingIn }: LeadFilter,
): AsyncGenerator<readonly LeadRecord[], void, void> {
  for (let after = ''; ;) {
    const page = await leadRecords(db)
      .where('l.id', '>', after)
      .$if(since !== undefined, (query) => query.where('l.first_verified_at', '>=', since!))
      .$if(until !== undefined, (query) => query.where('l.first_verified_at', '<', until!))
      .$if(flag !== undefined, (query) => query.where(hasFlag(flag!)))
      .$if(missingIn !== undefined, (query) =>
        query.where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom('exported_leads as e')
                .select('e.lead_id')
                .whereRef('e.lead_id', '=', 'l.id')
                .where('e.export_name', '=', missingIn!),
            ),
          ),
        ),
      )
      .orderBy('l.id')
      .limit(PAGE_SIZE)
      .execute();
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.id;
  }
}

/** One of the words of a list that is separated by spaces. */
const hasFlag = (flag: string) => sql<boolean>`' ' || l.flags || ' ' like ${`% ${flag} %`}`;

/** PostgreSQL takes 65,535 values a statement. */
const MOST_AT_ONCE = 1_000;

/**
 * Remembers that an export of this name has had these leads. One that was erased meanwhile is passed over.
 * @param now milliseconds since 1970
 */
export async function rememberExported(
  db: Db,
  { name, leadIds, now }: { name: string; leadIds: readonly string[]; now: number },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    for (let from = 0; from < leadIds.length; from += MOST_AT_ONCE) {
      await tx
        .insertInto('exported_leads')
        .columns(['export_name', 'lead_id', 'exported_at'])
        .expression((eb) =>
          eb
            .selectFrom('leads')
            .select((leads) => [
              leads.val(name).as('export_name'),
              'leads.id as lead_id',
              leads.val(now).as('exported_at'),
            ])
            .where('leads.id', 'in', leadIds.slice(from, from + MOST_AT_ONCE)),
        )
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
  });
}
