// Tables, and rows of docs/figures.md. Each case replaces its own rows.
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, platform, release } from 'node:os';
import path from 'node:path';

import { format } from 'oxfmt';

import { PROJECT_FOLDER } from '#build/vite-config.ts';

export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

/** The median of each fifth of a run; NaN without values, as in the last fifth of a short run. */
export function fifthsOf(values: readonly number[]): number[] {
  const length = Math.ceil(values.length / 5);
  return Array.from({ length: 5 }, (_, fifth) => median(values.slice(fifth * length, (fifth + 1) * length)));
}

/** Cells by column, the same columns in every row of a table. */
type Row = Readonly<Record<string, string | number>>;

export type Rows = {
  readonly add: (row: Row) => void;
  /** As Markdown. */
  readonly table: () => string;
  readonly summarize: (...columns: readonly string[]) => string;
  /**
   * Returns the lowest and the highest number in a column, with its unit.
   * @param where texts that the row must contain
   */
  readonly range: (column: string, ...where: readonly string[]) => string;
};

const numberIn = (cell: string): number => Number.parseFloat(cell.replaceAll(',', ''));

export function createRows(): Rows {
  const rows: Row[] = [];
  const cellOf = (row: Row, column: string): string => {
    const cell = row[column];
    if (cell === undefined) throw new Error(`Unknown column "${column}".`);
    return String(cell);
  };
  return {
    add: (row) => {
      rows.push(row);
      process.stdout.write(`${Object.values(row).join(' | ')}\n`);
    },
    table: () => {
      const head = Object.keys(rows[0] ?? {});
      return [head, head.map((_, column) => (column === 0 ? '---' : '--:')), ...rows.map(Object.values)]
        .map((cells) => `| ${cells.join(' | ')} |`)
        .join('\n');
    },
    summarize: (...columns) =>
      rows
        .map((row) => {
          const [first] = Object.values(row);
          return `${first}: ${columns.map((column) => `${cellOf(row, column)} ${column}`).join(', ')}`;
        })
        .join('; '),
    range: (column, ...where) => {
      const cells = rows
        .filter((row) => where.every((text) => Object.values(row).join().includes(text)))
        .map((row) => cellOf(row, column));
      if (cells.length === 1) return cells[0]!;
      const ordered = cells
        .filter((cell) => Number.isFinite(numberIn(cell)))
        .toSorted((a, b) => numberIn(a) - numberIn(b));
      const [least = 'none', most = 'none'] = [ordered[0], ordered.at(-1)];
      return least === most ? most : `${/^[\d.,]+/.exec(least)?.[0]} to ${most}`;
    },
  };
}

function machine(): string {
  const [processor] = cpus();
  const [kernel = '', node = ''] = [release(), process.versions.node].map((version) =>
    version.split('.', 2).join('.'),
  );
  return `${cpus().length} × ${processor?.model ?? 'unknown'}, ${platform()} ${kernel}, Node ${node}`;
}

/**
 * Adds the name of the machine unless it is the usual one. Throws if the row is missing.
 * @param key text of the first cell
 */
export async function writeFigures(key: string, cells: readonly string[]): Promise<void> {
  const target = path.join(PROJECT_FOLDER, 'docs/figures.md');
  const text = readFileSync(target, 'utf8');
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.startsWith('|') && line.split('|')[1]?.trim() === key);
  if (at < 0) throw new Error(`docs/figures.md has no row "${key}". Add one to a table.`);
  const date = new Date().toISOString().slice(0, 10);
  const measured = text.includes(machine()) ? date : `${date}, ${machine()}`;
  lines[at] = `| ${[key, measured, ...cells].join(' | ')} |`;
  writeFileSync(target, (await format(target, lines.join('\n'))).code);
}
