// Statements that are composed once. Composing a text anew for every call costs several times what SQLite takes to answer it;
// so what every visitor asks for is written here as everywhere, with places for its values, and composed at its first use.
import type { CompiledQuery, QueryResult } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';

/** Stands for a value, by name, while a statement is composed. */
export type Value<Values> = <Name extends keyof Values & string>(name: Name) => Values[Name];

/** The places of several columns that have the names of their values. */
export const valuesOf = <Values, Name extends keyof Values & string>(
  value: Value<Values>,
  names: readonly Name[],
): Pick<Values, Name> => Object.fromEntries(names.map((name) => [name, value(name)])) as Pick<Values, Name>;

/** What runs a statement with its values. */
export type Statement<Values, Row> = (db: Db, values: Values) => Promise<QueryResult<Row>>;

/** A place in a composed statement; never leaves this file. */
type Place = { readonly place: string };
const isPlace = (parameter: unknown): parameter is Place =>
  typeof parameter === 'object' && parameter !== null && 'place' in parameter;

/**
 * Makes a statement that is composed once for each engine.
 * @param compose as if it were asked once; what differs from call to call is given by `value('name')`. It must ask the same
 *   whatever the values are: a condition that is sometimes left out makes another statement
 */
export function statement<Values, Row>(
  compose: (db: Db, value: Value<Values>) => { readonly compile: () => CompiledQuery<Row> },
): Statement<Values, Row> {
  const composed = new WeakMap<object, CompiledQuery<Row>>();
  // Kysely takes anything for a value, and hands it on as it is.
  const value = ((place: string): Place => ({ place })) as unknown as Value<Values>;
  return async (db, values) => {
    // A transaction shares the adapter of its database.
    const { adapter } = db.getExecutor();
    let query = composed.get(adapter);
    if (query === undefined) {
      query = compose(db, value).compile();
      composed.set(adapter, query);
    }
    const parameters = query.parameters.map((parameter) =>
      isPlace(parameter) ? values[parameter.place as keyof Values] : parameter,
    );
    return db.executeQuery({ ...query, parameters });
  };
}
