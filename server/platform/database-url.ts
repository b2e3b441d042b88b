// DATABASE_URL as db/ takes it: an engine and its address.

export type DatabaseAddress =
  | {
      readonly engine: 'sqlite';
      /** Absolute path, or ':memory:'. */
      readonly file: string;
    }
  | { readonly engine: 'postgres'; readonly url: string };
