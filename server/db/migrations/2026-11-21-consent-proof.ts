// A receipt never names words that nobody saw, and says in which browser its code was entered.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Its time tells from when on the wording of a receipt is what the page stated, and not what the server assumed.
  await sql`
    insert into consent_wordings (version, text, first_used_at) values (
      'not-stated',
      'The wording was not stated: the form was sent by a program that did not say which words stood beside the checkbox.',
      ${Date.now()}
    )
  `.execute(db);
  // 1 and 0; nothing in receipts from before, which did not note it.
  await db.schema.alterTable('consent_receipts').addColumn('same_browser', 'integer').execute();
}
