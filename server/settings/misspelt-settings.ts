// The slips people make when they write settings: a name that is nearly right, a value that a comment sign cuts off, a quote that is
// not closed. A server that started all the same would run with a default that the operator did not choose.
import { parseEnv } from 'node:util';

import { SETTING_NAMES } from '#server/settings/setting-rules.ts';
import { nearestName } from '#server/platform/nearest-name.ts';

/** Names of other programs that are one slip away from one of ours. */
const NOT_OURS = new Set(['API_SECRET', 'LOGLEVEL']);
/** Names shorter than this resemble too many others (PORT, HOST) to be judged outside .env. */
const SHORTEST_JUDGED = 6;

/** The setting whose name is nearest to another one, and by how many slips. */
const nearestSetting = (name: string): { name: string; slips: number } =>
  nearestName(name.toUpperCase(), SETTING_NAMES);

/**
 * Finds names in the environment that are misspelt settings.
 * @param env the environment; a name counts only while the one it resembles is not set
 * @returns one sentence for each
 */
export function slipsInEnvironment(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env).flatMap((name) => {
    if (SETTING_NAMES.includes(name) || NOT_OURS.has(name)) return [];
    const { name: setting, slips } = nearestSetting(name);
    if (slips > 1 || setting.length < SHORTEST_JUDGED || env[setting]) return [];
    return [`${name} is no setting. Did you mean ${setting}?`];
  });
}

/**
 * One line of a .env file, or several that a quoted value spans, as Node's parseEnv takes them apart. It passes over a line that is no
 * entry, and over what stands behind a closing quote.
 */
const LINE =
  /^[^\S\n]*(?:#.*|(?:export )?[^\S\n]*(?<name>[^\s=#][^=\n]*?)?[^\S\n]*(?<sign>=[^\S\n]*)(?:(?<quote>["'`])(?<quoted>[^]*?)\k<quote>(?<behind>.*)|(?<bare>.*))|(?<other>.*\S.*))$/gm;

export type EnvFile = {
  /** Mistakes that stop the start, one sentence each, with its place. */
  readonly complaints: readonly string[];
  /** Mistakes that do not stop the start. */
  readonly warnings: readonly string[];
  /** The settings, as Node reads them. */
  readonly values: Readonly<Record<string, string>>;
  /** The line of each setting, counted from 1. */
  readonly lines: ReadonlyMap<string, number>;
};

/**
 * Reads a .env file.
 * @param text with lines that end with \n
 * @param file the name to use in sentences
 */
export function readEnvText(text: string, file = '.env'): EnvFile {
  const values = parseEnv(text) as Readonly<Record<string, string>>;
  const complaints: string[] = [];
  const warnings: string[] = [];
  const lines = new Map<string, number>();
  let [line, seen] = [1, 0];
  for (const { 0: entry, index, groups = {} } of text.matchAll(LINE)) {
    line += text.slice(seen, index).split('\n').length - 1;
    seen = index;
    const { name, sign, other } = groups;
    const complain = (sentence: string) => complaints.push(`${file}:${line}: ${sentence}`);
    if (other !== undefined || (sign !== undefined && name === undefined))
      complain('is not understood. Write each setting as NAME=value, and "#" before a comment.');
    if (name === undefined) continue;
    const slip = slipInEntry(groups, text.slice(index + entry.length));
    if (slip !== null) complain(`${name} ${slip}`);
    if (!SETTING_NAMES.includes(name)) {
      const { name: setting, slips } = nearestSetting(name);
      if (slips <= 2 && slips < name.length / 2) complain(`${name} is no setting. Did you mean ${setting}?`);
      else warnings.push(`${file}:${line}: ${name} is no setting of this page; it is ignored.`);
      continue;
    }
    const before = lines.get(name);
    if (before !== undefined) complain(`${name} is set in line ${before} already. Keep one of them.`);
    else lines.set(name, line);
    if (name === 'INSTANCE_FOLDER')
      complain(`${name} cannot stand here, because it says where .env lies. Set it in the environment.`);
  }
  return { complaints, warnings, values, lines };
}

/**
 * Why an entry does not mean what it seems to.
 * @param rest the lines after it
 */
function slipInEntry(
  { name = '', sign = '', quote, quoted = '', behind = '', bare = '' }: Readonly<Record<string, string>>,
  rest: string,
): string | null {
  const isOurs = SETTING_NAMES.includes(name);
  // No setting spans lines: a quote that was forgotten ends at the next one, in a value further down.
  if (quote !== undefined && quoted.includes('\n') && (isOurs || namesSetting(quoted)))
    return `has a quote (${quote}) that is not closed in its line. Close it.`;
  if (quote !== undefined && isOurs && !/^\s*(?:#.*)?$/.test(behind))
    return `has text after its closing quote (${quote}), which is left out. Put the whole value into quotes of another kind.`;
  if (isOurs && /^["'`]/.test(bare))
    return `has a quote (${bare[0]}) that is not closed in its line. Close it.`;
  // A comment begins after a space. Without one, it is part of the value as people mean it.
  if (isOurs && /^[^\s#]*#/.test(bare) && !(bare.startsWith('#') && /\s$/.test(sign)))
    return 'is cut off at its "#", where a comment begins. Put the value in quotes; in an address, write %23.';
  // Node then takes the next line that holds something, unless that is a comment.
  if (quote === undefined && bare === '' && sign !== '=' && /^\s*[^\s#]/.test(rest))
    return 'has only spaces after its "=", so that the next line becomes its value. Remove the spaces.';
  return null;
}

const namesSetting = (text: string): boolean =>
  [...text.matchAll(/^[^\S\n]*(?:export )?[^\S\n]*([^\s=]+)[^\S\n]*=/gm)].some(([, name = '']) =>
    SETTING_NAMES.includes(name),
  );
