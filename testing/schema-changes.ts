import { sql, type Kysely } from 'kysely';

import type { Engine } from '#testing/databases.ts';

/** A column, listed by table.column: its type, and whether it may be omitted or null. */
type Column = { readonly type: string; readonly mayBeLeftOut: boolean; readonly mayBeNull: boolean };
export type SchemaShape = {
  readonly tables: ReadonlySet<string>;
  readonly columns: ReadonlyMap<string, Column>;
  /** Keys, unique constraints, checks and triggers; each line begins with its table. */
  readonly rules: ReadonlySet<string>;
};

type ColumnRow = { at: string; type: string; required: number; has_default: number };

export async function readShape(db: Kysely<never>, engine: Engine): Promise<SchemaShape> {
  const columns =
    engine === 'sqlite'
      ? sql<ColumnRow>`
          select t.name || '.' || c.name as at, c.type as type, max(c."notnull", c.pk > 0) as required,
            c.dflt_value is not null as has_default
          from sqlite_master t, pragma_table_xinfo(t.name) c
          where t.type = 'table' and t.name not like 'sqlite_%' and t.name not like 'kysely_%'`
      : sql<ColumnRow>`
          select table_name || '.' || column_name as at, udt_name || coalesce(character_maximum_length, 0) as type,
            (is_nullable = 'NO')::int as required,
            (column_default is not null or is_identity = 'YES')::int as has_default
          from information_schema.columns where table_schema = 'public' and table_name not like 'kysely_%'`;
  const rules =
    engine === 'sqlite'
      ? sql<{ rule: string }>`
          select t.name || ' unique ' || i.partial || ' ' ||
            (select group_concat(coalesce(x.name, '?')) from pragma_index_xinfo(i.name) x where x.key) ||
            coalesce((select lower(substr(m.sql, instr(lower(m.sql), ' where '))) from sqlite_master m where m.name = i.name and i.partial), '') as rule
          from sqlite_master t, pragma_index_list(t.name) i
          where t.type = 'table' and t.name not like 'kysely_%' and i."unique"
          union all
          select t.name || ' references ' || f."table" || ' by ' || f."from" || ' on delete ' || f.on_delete
          from sqlite_master t, pragma_foreign_key_list(t.name) f where t.type = 'table'
          union all
          select name || ' checks ' || lower(substr(sql, instr(lower(sql), 'check')))
          from sqlite_master where type = 'table' and lower(sql) like '%check%'
          union all
          select tbl_name || ' trigger ' || name from sqlite_master where type = 'trigger'`
      : sql<{ rule: string }>`
          select t.relname || ' unique ' || coalesce(pg_get_expr(i.indpred, i.indrelid), '') || ' ' ||
            (select string_agg(pg_get_indexdef(i.indexrelid, n, true), ',') from generate_series(1, i.indnkeyatts) n) as rule
          from pg_index i join pg_class t on t.oid = i.indrelid join pg_namespace s on s.oid = t.relnamespace
          where i.indisunique and s.nspname = 'public' and t.relname not like 'kysely_%'
          union all
          select c.conrelid::regclass::text || ' ' || pg_get_constraintdef(c.oid)
          from pg_constraint c join pg_namespace s on s.oid = c.connamespace
          where c.contype in ('f', 'c', 'x') and s.nspname = 'public'
          union all
          select tgrelid::regclass::text || ' trigger ' || tgname from pg_trigger where not tgisinternal`;
  const shape = (await columns.execute(db)).rows.map(
    ({ at, type, required, has_default }): [string, Column] => [
      at,
      { type: type.toLowerCase(), mayBeLeftOut: !required || !!has_default, mayBeNull: !required },
    ],
  );
  return {
    tables: new Set(shape.map(([at]) => tableOf(at))),
    columns: new Map(shape),
    rules: new Set((await rules.execute(db)).rows.map(({ rule }) => rule)),
  };
}

const tableOf = (line: string): string => line.split(/[. ]/, 1)[0] ?? '';

/**
 * Everything that a release with the schema `before` can no longer do. A removed unique constraint counts: an insert may name
 * it ("on conflict").
 */
export function narrowings(before: SchemaShape, after: SchemaShape): string[] {
  const found: string[] = [];
  for (const [at, was] of before.columns) {
    const is = after.columns.get(at);
    if (is === undefined) found.push(`${at} went`);
    else {
      if (is.type !== was.type) found.push(`${at} is ${is.type} and was ${was.type}`);
      if (was.mayBeNull && !is.mayBeNull) found.push(`${at} may no longer be null`);
      if (was.mayBeLeftOut && !is.mayBeLeftOut) found.push(`${at} may no longer be left out`);
      if (!was.mayBeNull && is.mayBeNull) found.push(`${at} may be null, and was never`);
    }
  }
  for (const [at, { mayBeLeftOut }] of after.columns)
    if (!before.columns.has(at) && before.tables.has(tableOf(at)) && !mayBeLeftOut)
      found.push(`${at} is new and must be given`);
  for (const rule of after.rules)
    if (!before.rules.has(rule) && before.tables.has(tableOf(rule))) found.push(`new rule: ${rule}`);
  for (const rule of before.rules) if (!after.rules.has(rule)) found.push(`rule went: ${rule}`);
  return found;
}
