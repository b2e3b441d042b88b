// The frame of a proof: starts PostgreSQL if needed, collects broken promises and table rows, and ends by printing the tables, writing a
// summary into docs/figures.md and failing the command if a promise was broken.
import type { Engine } from '#testing/databases.ts';
import { startPostgres, type PostgresServer } from '#testing/postgres-server.ts';
import { prepareSite, type PreparedSite, type SiteOptions } from '#testing/start-site.ts';
import { brokenPromises, settle, type Account, type Settled } from '#proofs/stand/promises-kept.ts';
import { table, writeFigures } from '#proofs/stand/report.ts';
import type { Ledger } from '#proofs/stand/visitors.ts';

/** Measures and prints, but does not change docs/figures.md. */
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
  /** A sentence with some columns of each row, which begins with the row's first cell. */
  readonly say: (...columns: readonly string[]) => string;
  /** The lowest and highest number in a column, with the unit. @param where texts that a row must contain */
  readonly range: (column: string, ...where: readonly string[]) => string;
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
   * Stops PostgreSQL, prints the tables and writes the summary. The command fails if a promise was broken.
   * @param summary for docs/figures.md
   */
  readonly end: (summary: string, ...tables: readonly string[]) => Promise<void>;
};

/**
 * @param command the npm script, which is the key of its row in docs/figures.md
 * @param isWhole false for a partial run, which must not replace the figures of the whole
 */
export function createProof(command: string, isWhole = true): Proof {
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
    end: async (summary, ...tables) => {
      await (await postgres)?.stop();
      for (const one of tables) process.stdout.write(`\n${one}\n`);
      await report(`\`${command}\``, [summary], isWhole);
      conclude(broken);
    },
  };
}

const numberIn = (cell: string): number => Number.parseFloat(cell.replaceAll(',', ''));

function createRows(head: readonly string[]): Rows {
  const rows: (readonly Cell[])[] = [];
  const placeOf = (column: string): number => {
    const place = head.indexOf(column);
    if (place < 0) throw new Error(`There is no column "${column}".`);
    return place;
  };
  return {
    add: (...cells) => {
      rows.push(cells);
      process.stdout.write(`${cells.join(' | ')}\n`);
    },
    table: (sorted) => table(head, sorted ? rows.toSorted((a, b) => a.join().localeCompare(b.join())) : rows),
    say: (...columns) =>
      rows
        .map((row) => `${row[0]}: ${columns.map((column) => `${row[placeOf(column)]} ${column}`).join(', ')}`)
        .join('; '),
    range: (column, ...where) => {
      const cells = rows
        .filter((row) => where.every((text) => row.join().includes(text)))
        .map((row) => String(row[placeOf(column)]));
      if (cells.length === 1) return cells[0]!;
      const ordered = cells
        .filter((cell) => Number.isFinite(numberIn(cell)))
        .toSorted((a, b) => numberIn(a) - numberIn(b));
      const [least = 'none', most = 'none'] = [ordered[0], ordered.at(-1)];
      return least === most ? most : `${/^[\d.,]+/.exec(least)?.[0]} to ${most}`;
    },
  };
}

/** Writes a row of docs/figures.md, or prints it in a dry run or when it must not be kept. */
export async function report(key: string, cells: readonly string[], isKept = true): Promise<void> {
  if (DRY || !isKept) process.stdout.write(`\n${[key, ...cells].join(' | ')}\n`);
  else await writeFigures(key, cells);
}

/** Prints the broken promises. The command fails when there is one. */
export function conclude(broken: readonly string[]): void {
  for (const sentence of broken) process.stderr.write(`BROKEN: ${sentence}\n`);
  if (broken.length > 0) process.exitCode = 1;
}
