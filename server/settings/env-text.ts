// Finds mistakes in .env and in names of variables, because a server would otherwise silently use a default.
import { parseEnv } from 'node:util';

import { type Mistake, nearestName } from '#server/platform/mistakes.ts';
import { isSettingName, SETTING_NAMES } from '#server/settings/settings-table.ts';

export type EnvFile = {
  readonly mistakes: readonly Mistake[];
  readonly warnings: readonly Mistake[];
  readonly values: Readonly<Record<string, string>>;
  readonly lines: ReadonlyMap<string, number>;
};

/**
 * One entry, as Node's parseEnv reads it; a quoted value can span lines. parseEnv ignores lines without an
 * entry and text after a closing quote.
 */
const LINE =
  /^[^\S\n]*(?:#.*|(?:export )?[^\S\n]*(?<name>[^\s=#][^=\n]*?)?[^\S\n]*(?<sign>=[^\S\n]*)(?:(?<quote>["'`])(?<quoted>[^]*?)\k<quote>(?<after>.*)|(?<bare>.*))|(?<other>.*\S.*))$/gm;

/**
 * Reads a .env file.
 * @param text with lines that end with \n
 * @param file as the operator calls it
 */
export function readEnvText(text: string, file = '.env'): EnvFile {
  const mistakes: Mistake[] = [];
  const warnings: Mistake[] = [];
  const lines = new Map<string, number>();
  let [line, seen] = [1, 0];
  for (const { 0: entry, index, groups = {} } of text.matchAll(LINE)) {
    line += text.slice(seen, index).split('\n').length - 1;
    seen = index;
    const { name, sign, other } = groups;
    const add = (message: string) => mistakes.push({ file, line, message });
    if (other !== undefined || (sign !== undefined && name === undefined))
      add('is not understood. Write each setting as NAME=value, and "#" before a comment.');
    if (name === undefined) continue;
    const mistake = mistakeInEntry(groups, text.slice(index + entry.length));
    if (mistake !== null) add(`${name} ${mistake}`);
    if (!isSettingName(name)) {
      const meant = nearestName(name.toUpperCase(), SETTING_NAMES);
      if (meant !== null) add(notASetting(name, meant));
      else warnings.push({ file, line, message: `${name} is not a setting of this page; it is ignored.` });
      continue;
    }
    const before = lines.get(name);
    if (before !== undefined) add(`${name} is already set in line ${before}. Keep one of them.`);
    else lines.set(name, line);
    if (name === 'INSTANCE_FOLDER')
      add(`${name} cannot be set here, because it says where .env is. Set it in the environment.`);
  }
  return { mistakes, warnings, values: parseEnv(text) as Readonly<Record<string, string>>, lines };
}

/**
 * Why an entry is ambiguous.
 * @param rest the lines after it
 */
function mistakeInEntry(
  { name = '', sign = '', quote, quoted = '', after = '', bare = '' }: Readonly<Record<string, string>>,
  rest: string,
): string | null {
  const isOurs = isSettingName(name);
  // No setting spans lines: a forgotten quote ends at the next one, in a value further down.
  if (quote !== undefined && quoted.includes('\n') && (isOurs || namesSetting(quoted)))
    return `has a quote (${quote}) that is not closed in its line. Close it.`;
  if (quote !== undefined && isOurs && !/^\s*(?:#.*)?$/.test(after))
    return `has text after its closing quote (${quote}), which is ignored. Put the whole value into quotes of another kind.`;
  if (isOurs && /^["'`]/.test(bare))
    return `has a quote (${bare[0]}) that is not closed in its line. Close it.`;
  // Without a space before it, people mean # as part of the value.
  if (isOurs && /^[^\s#]*#/.test(bare) && !(bare.startsWith('#') && /\s$/.test(sign)))
    return 'is cut off at its "#", where a comment begins. Put the value in quotes; in a URL, write %23.';
  // Node would read the next non-empty line as the value.
  if (quote === undefined && bare === '' && sign !== '=' && /^\s*[^\s#]/.test(rest))
    return 'has only spaces after its "=", so the next line becomes its value. Remove the spaces.';
  return null;
}

const namesSetting = (text: string): boolean =>
  [...text.matchAll(/^[^\S\n]*(?:export )?[^\S\n]*([^\s=]+)[^\S\n]*=/gm)].some(([, name = '']) =>
    isSettingName(name),
  );

const notASetting = (name: string, meant: string) => `${name} is not a setting. Did you mean ${meant}?`;

/** Other programs' names that differ from a setting by one letter. */
const NOT_OURS = new Set(['API_SECRET', 'LOGLEVEL']);
/** Letters. Shorter names (PORT, HOST) resemble too many others outside .env. */
const SHORTEST_JUDGED = 6;

/** @param env a misspelt name counts only if the right one is not set */
export function misspeltNames(env: Readonly<Record<string, string | undefined>>): Mistake[] {
  return Object.keys(env).flatMap((name) => {
    if (isSettingName(name) || NOT_OURS.has(name)) return [];
    const meant = nearestName(name.toUpperCase(), SETTING_NAMES, 1);
    if (meant === null || meant.length < SHORTEST_JUDGED || env[meant]) return [];
    return [{ message: notASetting(name, meant) }];
  });
}
