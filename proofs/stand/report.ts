// Writes the tables in docs/measured/. Each command that measures replaces its own table there and no other.
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, platform, release } from 'node:os';
import path from 'node:path';

import { format, resolveConfig } from 'prettier';

import { PROJECT_FOLDER } from '#build/vite-config.ts';

/** What the figures were measured on, as a sentence. */
export function measuredOn(): string {
  const [processor] = cpus();
  const date = new Date().toISOString().slice(0, 10);
  return `Measured on ${date}, ${cpus().length} × ${processor?.model ?? 'unknown'}, ${platform()} ${release()}, Node ${process.versions.node}.`;
}

/** The middle one of some numbers; of an even count the upper of the two. */
export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

/** A table in Markdown. */
export const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map((_, column) => (column === 0 ? '---' : '--:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');

/**
 * Replaces the text between `<!-- name -->` and `<!-- /name -->` in a file of docs/measured/; throws when they are missing.
 * @param file its name in docs/measured/; links in the text start there
 */
export async function writeReport(file: string, name: string, markdown: string): Promise<void> {
  const target = path.join(PROJECT_FOLDER, 'docs/measured', file);
  const text = readFileSync(target, 'utf8');
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from < 0 || to < from)
    throw new Error(
      `docs/measured/${file} has no place for "${name}". Add <!-- ${name} --> and <!-- /${name} --> where its table belongs.`,
    );
  const replaced = `${text.slice(0, from)}${start}\n\n${markdown}\n\n${text.slice(to)}`;
  const style = await resolveConfig(target);
  writeFileSync(target, await format(replaced, { ...style, filepath: target }));
}
