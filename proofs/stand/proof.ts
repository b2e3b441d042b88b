// The frame of a proof: it starts a PostgreSQL when one is needed, collects broken promises and the rows of its tables, and ends by
// writing its tables into docs/measured/ and failing the command when a promise was broken.
import type { Engine } from '#testing/databases.ts';
import { startPostgres, type PostgresServer } from '#testing/postgres-server.ts';
import { prepareSite, type PreparedSite, type SiteOptions } from '#testing/start-site.ts';
import { brokenPromises, settle, type Account, type Settled } from '#proofs/stand/promises-kept.ts';
import { measuredOn, table, writeReport } from '#proofs/stand/report.ts';
import type { Ledger } from '#proofs/stand/visitors.ts';

/** Measures and prints, and leaves docs/measured/ as it is: for trying a proof. */
const DRY = process.argv.includes('--dry');

const ARGUMENTS = process.argv.slice(2).filter((one) => !one.startsWith('--'));
/** A number on the command line. @param place from 0, options left out */
export const argument = (place: number, otherwise: number): number => Number(ARGUMENTS[place] ?? otherwise);

type Cell = string | number;

export type Rows = {
  /** Adds a row and prints it. */
  readonly add: (...cells: readonly Cell[]) => void;
  /** The table in Markdown. @param sorted by their text, where several things are measured at once */
  readonly table: (sorted?: 'sorted') => string;
};

export type Proof = {
  /** The PostgreSQL of this proof, which the first call starts. */
  readonly postgres: () => Promise<PostgresServer>;
  /** A site with an empty database; on PostgreSQL it is made on that of this proof. */
  readonly prepareSite: (engine: Engine, options?: SiteOptions) => Promise<PreparedSite>;
  /** Notes a broken promise, unless it holds. @param sentence what is wrong */
  readonly expect: (holds: boolean, sentence: string) => void;
  /** Compares what visitors were promised with what is there, and notes what is not. @param what was done to the site */
  readonly expectKept: (what: string, site: Settled, ledger: Ledger) => Promise<Account>;
  readonly rows: (...head: readonly string[]) => Rows;
  /**
   * Stops the PostgreSQL and writes the report. The command fails when a promise was broken.
   * @param paragraphs in Markdown, after the sentence that says what was measured on
   */
  readonly end: (...paragraphs: readonly string[]) => Promise<void>;
};

/**
 * @param section of a file of docs/measured/ that the report replaces
 * @param isWhole false when only a part is run, whose table must not replace that of the whole
 */
export function createProof(file: string, section: string, isWhole = true): Proof {
  const broken: string[] = [];
  let postgres: Promise<PostgresServer> | undefined;
  const startedPostgres = () => (postgres ??= startPostgres());
  const expect = (holds: boolean, sentence: string): void => {
    if (!holds) broken.push(sentence);
  };
  return {
    postgres: startedPostgres,
    prepareSite: async (engine, options) =>
      prepareSite({
        engine,
        server: engine === 'postgres' ? (await startedPostgres()).url : undefined,
        ...options,
      }),
    expect,
    expectKept: async (what, site, ledger) => {
      const account = await settle(site, ledger);
      for (const promise of brokenPromises(account)) expect(false, `${what}: ${promise}`);
      return account;
    },
    rows: (...head) => createRows(head),
    end: async (...paragraphs) => {
      await (await postgres)?.stop();
      if (isWhole) await report(file, section, ...paragraphs);
      conclude(broken);
    },
  };
}

function createRows(head: readonly string[]): Rows {
  const rows: (readonly Cell[])[] = [];
  return {
    add: (...cells) => {
      rows.push(cells);
      process.stdout.write(`${cells.join(' | ')}\n`);
    },
    table: (sorted) => table(head, sorted ? rows.toSorted((a, b) => a.join().localeCompare(b.join())) : rows),
  };
}

/** Writes a section, or prints it in a dry run. The first paragraph continues the sentence that says what was measured on. */
export async function report(file: string, section: string, ...[first = '', ...more]: readonly string[]) {
  const text = [`${measuredOn()}${first.startsWith('|') ? '\n\n' : ' '}${first}`, ...more].join('\n\n');
  if (DRY) process.stdout.write(`${text}\n`);
  else await writeReport(file, section, text);
}

/** Prints the broken promises. The command fails when there is one. */
export function conclude(broken: readonly string[]): void {
  for (const sentence of broken) process.stderr.write(`BROKEN: ${sentence}\n`);
  if (broken.length > 0) process.exitCode = 1;
}
