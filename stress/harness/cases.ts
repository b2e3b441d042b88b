// Shared by the four programs: arguments, servers, checks of the promises, and rows for docs/figures.md.
import { parseArgs } from 'node:util';

import type { Engine } from '#testing/databases.ts';
import { startPostgres, type PostgresServer } from '#testing/postgres-server.ts';
import { prepareSite, type PreparedSite, type SiteOptions } from '#testing/start-site.ts';
import { checkPromises, type Account, type SiteWithInbox } from '#stress/harness/promises-kept.ts';
import { createRows, writeFigures, type Rows } from '#stress/harness/report.ts';
import type { Ledger } from '#stress/harness/visitors.ts';

type Options = Readonly<Record<string, string | number | boolean>>;

export type Case = {
  /** Default values. On the command line: --kills 5, --short. */
  readonly options: Options;
  /** @returns the row for docs/figures.md; null without a complete result */
  readonly run: (trial: Trial, options: Options) => Promise<string | null>;
};

export const defineCase = <Given extends Options>(
  options: Given,
  run: (trial: Trial, options: Given) => Promise<string | null>,
): Case => ({ options, run: (trial, given) => run(trial, given as Given) });

export type Trial = {
  /** Stopped after the case. */
  readonly postgres: () => Promise<PostgresServer>;
  readonly prepareSite: (engine: Engine, options?: SiteOptions) => Promise<PreparedSite>;
  readonly expect: (holds: boolean, sentence: string) => void;
  readonly expectKept: (what: string, site: SiteWithInbox, ledger: Ledger) => Promise<Account>;
  /** Prints each row at once, and all rows as a table after the case. */
  readonly rows: () => Rows;
  /** @param isWhole false for a partial run, which must not replace the figures of a complete run */
  readonly figure: (key: string, cells: readonly string[], isWhole?: boolean) => Promise<void>;
};

/**
 * Runs the cases named on the command line, or all. With --dry, docs/figures.md is not changed.
 * @param program the npm script
 */
export async function runCases(program: string, cases: Readonly<Record<string, Case>>): Promise<void> {
  const { names, given } = readArguments(cases);
  const figure: Trial['figure'] = async (key, cells, isWhole = true) => {
    if (given['dry'] || !isWhole) process.stdout.write(`\n${[key, ...cells].join(' | ')}\n`);
    else await writeFigures(key, cells);
  };
  const broken: string[] = [];
  for (const name of names) {
    const { options, run } = cases[name]!;
    try {
      const summary = await withTrial(broken, figure, (trial) => run(trial, { ...options, ...given }));
      if (summary !== null) await figure(`\`${program} ${name}\``, [summary]);
    } catch (error) {
      broken.push(`${name} stopped: ${error instanceof Error ? error.stack : String(error)}`);
    }
  }
  for (const sentence of broken) process.stderr.write(`BROKEN: ${sentence}\n`);
  // A connection that hangs on purpose would keep this process alive.
  process.exit(broken.length > 0 ? 1 : 0);
}

/** Ends the process with a sentence if an option or a case is unknown. */
function readArguments(cases: Readonly<Record<string, Case>>) {
  const usual = Object.assign(
    { dry: false },
    ...Object.values(cases).map(({ options }) => options),
  ) as Options;
  const known = Object.keys(cases);
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: Object.fromEntries(
        Object.entries(usual).map(([name, value]) => [
          name,
          { type: typeof value === 'boolean' ? ('boolean' as const) : ('string' as const) },
        ]),
      ),
    });
    const unknown = positionals.filter((name) => !known.includes(name));
    if (unknown.length > 0) throw new Error(`Unknown case: ${unknown.join(', ')}.`);
    const given = Object.entries(values).map(([name, value]) => [
      name,
      typeof usual[name] === 'number' ? Number(value) : value,
    ]);
    return {
      names: positionals.length > 0 ? positionals : known,
      given: Object.fromEntries(given) as Options,
    };
  } catch (error) {
    const options = Object.entries(usual).map(([name, value]) =>
      typeof value === 'boolean' ? `--${name}` : `--${name} ${value}`,
    );
    process.stderr.write(
      `${(error as Error).message}\nThe cases are ${known.join(', ')}; the options, with their usual values, are ${options.join(', ')}.\n`,
    );
    return process.exit(1);
  }
}

async function withTrial<Result>(
  broken: string[],
  figure: Trial['figure'],
  work: (trial: Trial) => Promise<Result>,
): Promise<Result> {
  let started: Promise<PostgresServer> | undefined;
  const postgres = () => (started ??= startPostgres());
  const expect = (holds: boolean, sentence: string): void => {
    if (!holds) broken.push(sentence);
  };
  const tables: Rows[] = [];
  try {
    return await work({
      postgres,
      prepareSite: async (engine, options) =>
        prepareSite({
          engine,
          server: engine === 'postgres' ? (await postgres()).url : undefined,
          ...options,
        }),
      expect,
      expectKept: (what, site, ledger) =>
        checkPromises(site, ledger, (promise) => expect(false, `${what}: ${promise}`)),
      rows: () => {
        const rows = createRows();
        tables.push(rows);
        return rows;
      },
      figure,
    });
  } finally {
    await (await started)?.stop();
    for (const rows of tables) process.stdout.write(`\n${rows.table()}\n`);
  }
}
