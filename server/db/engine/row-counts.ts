import { DeleteResult, UpdateResult, type InsertResult, type SelectQueryBuilder } from 'kysely';

type Change = {
  readonly executeTakeFirstOrThrow: () => Promise<InsertResult | UpdateResult | DeleteResult>;
};

export async function changedRows(query: Change): Promise<number> {
  const result = await query.executeTakeFirstOrThrow();
  if (result instanceof UpdateResult) return Number(result.numUpdatedRows);
  if (result instanceof DeleteResult) return Number(result.numDeletedRows);
  return Number(result.numInsertedOrUpdatedRows);
}

export const hasChanged = async (query: Change): Promise<boolean> => (await changedRows(query)) > 0;

export async function countRows<Db, Tables extends keyof Db, Row>(
  query: SelectQueryBuilder<Db, Tables, Row>,
): Promise<number> {
  const row: unknown = await query.select((eb) => eb.fn.countAll().as('count')).executeTakeFirstOrThrow();
  return Number((row as { readonly count: unknown }).count);
}

export async function hasRow<Db, Tables extends keyof Db, Row>(
  query: SelectQueryBuilder<Db, Tables, Row>,
): Promise<boolean> {
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}
