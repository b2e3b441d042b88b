// Each command replaces its own rows in docs/figures.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, platform, release } from 'node:os';
import path from 'node:path';

import { format, resolveConfig } from 'prettier';

import { PROJECT_FOLDER } from '#build/vite-config.ts';

export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

export const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map((_, column) => (column === 0 ? '---' : '--:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');

function machine(): string {
  const [processor] = cpus();
  const [kernel = '', node = ''] = [
    /^\d+\.\d+/.exec(release())?.[0],
    /^\d+\.\d+/.exec(process.versions.node)?.[0],
  ];
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
  const style = await resolveConfig(target);
  writeFileSync(target, await format(lines.join('\n'), { ...style, filepath: target }));
}
