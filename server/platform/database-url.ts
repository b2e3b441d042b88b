// DATABASE_URL as the database's room takes it: an engine, and where its rows are.

export type DatabaseAddress =
  | {
      readonly engine: 'sqlite';
      /** Absolute path, or ':memory:'. */
      readonly file: string;
    }
  | { readonly engine: 'postgres'; readonly url: string };
