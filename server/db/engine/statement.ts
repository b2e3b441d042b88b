// Statements that Kysely composes once, at their first use, for what every visitor needs and for the pages of a long table. Composing a
// text costs several times what SQLite takes to answer it; with fewer statements and shared lookups this took a flow from 6.1 to 2.4 ms of
// processor time (docs/decisions/0018-asked-once.md).
import type { CompiledQuery, QueryResult } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';

/** Makes a placeholder for a value, by name, while a statement is composed. */
export type Value<Values> = <Name extends keyof Values & string>(name: Name) => Values[Name];

/** The placeholders of columns that have the names of their values. */
export const valuesOf = <Values, Name extends keyof Values & string>(
  value: Value<Values>,
  names: readonly Name[],
): Pick<Values, Name> => Object.fromEntries(names.map((name) => [name, value(name)])) as Pick<Values, Name>;

/** Runs a composed statement with its values. */
export type Statement<Values, Row> = (db: Db, values: Values) => Promise<QueryResult<Row>>;

type Placeholder = { readonly placeholder: string };
const isPlaceholder = (parameter: unknown): parameter is Placeholder =>
  typeof parameter === 'object' && parameter !== null && 'placeholder' in parameter;

/**
 * Makes a statement that is composed once for each engine.
 * @param compose builds the query, with `value('name')` for each value that differs from call to call. The text must not depend on
 *   the values: a condition that is sometimes left out needs a second statement
 */
export function statement<Values, Row>(
  compose: (db: Db, value: Value<Values>) => { readonly compile: () => CompiledQuery<Row> },
): Statement<Values, Row> {
  const composed = new WeakMap<object, CompiledQuery<Row>>();
  // Kysely takes anything for a value, and hands it on as it is.
  const value = ((placeholder: string): Placeholder => ({ placeholder })) as unknown as Value<Values>;
  return async (db, values) => {
    // A transaction shares the adapter of its database.
    const { adapter } = db.getExecutor();
    let query = composed.get(adapter);
    if (query === undefined) {
      query = compose(db, value).compile();
      composed.set(adapter, query);
    }
    const parameters = query.parameters.map((parameter) =>
      isPlaceholder(parameter) ? values[parameter.placeholder as keyof Values] : parameter,
    );
    return db.executeQuery({ ...query, parameters });
  };
}

/**
 * Makes a {@link statement} whose result is not needed, such as an insert. In a transaction, its call returns as soon as it is sent, and it
 * fails the statements behind it and the commit when it fails; outside, its call returns when it is done.
 * @param compose as of {@link statement}
 */
export function command<Values>(
  compose: (db: Db, value: Value<Values>) => { readonly compile: () => CompiledQuery },
): (db: Db, values: Values) => Promise<void> {
  const run = statement(compose);
  return async (db, values) => {
    const done = run(db, values);
    if (!db.isTransaction) await done;
    // Both drivers remember what failed first in a transaction.
    else done.catch(() => {});
  };
}
