// Shared by all stress tests: collects broken promises and rows, updates docs/figures.md and sets the exit code.
import type { Engine } from '#testing/databases.ts';
import { startPostgres, type PostgresServer } from '#testing/postgres-server.ts';
import { prepareSite, type PreparedSite, type SiteOptions } from '#testing/start-site.ts';
import { brokenPromises, settle, type Account, type Settled } from '#stress/harness/promises-kept.ts';
import { table, writeFigures } from '#stress/harness/report.ts';
import type { Ledger } from '#stress/harness/visitors.ts';

/** True if docs/figures.md must not be changed. */
const DRY = process.argv.includes('--dry');

const ARGUMENTS = process.argv.slice(2).filter((one) => !one.startsWith('--'));
export const argument = (place: number, otherwise: number): number => Number(ARGUMENTS[place] ?? otherwise);

type Cell = string | number;

type Rows = {
  readonly add: (...cells: readonly Cell[]) => void;
  /** Returns Markdown. @param sorted sorts the rows by text, for concurrent measurements */
  readonly table: (sorted?: 'sorted') => string;
  readonly say: (...columns: readonly string[]) => string;
  /** Lowest and highest number in a column, with its unit. @param where texts that the row must contain */
  readonly range: (column: string, ...where: readonly string[]) => string;
};

export type Proof = {
  readonly postgres: () => Promise<PostgresServer>;
  readonly prepareSite: (engine: Engine, options?: SiteOptions) => Promise<PreparedSite>;
  readonly expect: (holds: boolean, sentence: string) => void;
  readonly expectKept: (what: string, site: Settled, ledger: Ledger) => Promise<Account>;
  readonly rows: (...head: readonly string[]) => Rows;
  readonly end: (summary: string, ...tables: readonly string[]) => Promise<void>;
};

/** @param isWhole false for a partial run, which must not replace the figures of a complete run */
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
    if (place < 0) throw new Error(`Unknown column "${column}".`);
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

export async function report(key: string, cells: readonly string[], isKept = true): Promise<void> {
  if (DRY || !isKept) process.stdout.write(`\n${[key, ...cells].join(' | ')}\n`);
  else await writeFigures(key, cells);
}

export function conclude(broken: readonly string[]): void {
  for (const sentence of broken) process.stderr.write(`BROKEN: ${sentence}\n`);
  if (broken.length > 0) process.exitCode = 1;
}
