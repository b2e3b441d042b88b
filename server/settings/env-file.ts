// The only file that reads process.env.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';

import type { DatabaseAddress } from '#server/platform/database-url.ts';
import { isFolder, PROJECT_FOLDER } from '#server/platform/files.ts';
import { type Mistake, nearestName, describeMistake } from '#server/platform/mistakes.ts';
import { errorCode } from '#server/platform/system-errors.ts';
import { lineOfForeignCharacter, NOT_UTF_8 } from '#server/platform/text.ts';
import { databaseUrl, databaseWarnings, resolveDatabase } from '#server/settings/connection-urls.ts';
import { isSettingName, SETTING_NAMES, type SettingName } from '#server/settings/settings-table.ts';
import { type Config, readConfig, serverTimeZone } from '#server/settings/settings.ts';
import { isTimeZone } from '#shared/days.ts';
import { orNull } from '#shared/or-null.ts';

export type Settings = {
  readonly config: Config;
  /** The folder of .env and data/, where relative paths start: INSTANCE_FOLDER, or the project. */
  readonly folder: string;
  readonly warnings: readonly string[];
};

/**
 * Reads the settings. The environment overrides .env.
 * @param restored replaces the text of .env
 * @returns settings with absolute paths, or one sentence per mistake with its position
 */
export function readSettings(
  restored?: string,
): ({ type: 'settings' } & Settings) | { type: 'mistakes'; mistakes: string[] } {
  const folder = instanceFolder();
  if (!isFolder(folder)) return { type: 'mistakes', mistakes: [MISSING_INSTANCE] };
  const file = path.join(folder, '.env');
  const name = folder === PROJECT_FOLDER ? '.env' : file;
  const read = restored === undefined ? readEnvFile(file, name) : readEnvText(restored, name);
  const env = { ...read.values, ...process.env };
  const result = readConfig(env, folder);
  const locate = (message: string): Mistake => {
    const [setting = ''] = /^[A-Z_]+/.exec(message) ?? [];
    const line = process.env[setting] === undefined ? read.lines.get(setting) : undefined;
    return line === undefined ? { message } : { file: name, line, message };
  };
  // The value of an invalid line is not reported again.
  const invalidLines = new Set(read.mistakes.map(({ line }) => line));
  const mistakes = [
    ...read.mistakes,
    ...misspeltNames(process.env),
    ...(result.type === 'mistakes' ? result.mistakes : [])
      .map(locate)
      .filter(({ line }) => line === undefined || !invalidLines.has(line)),
  ];
  if (result.type === 'mistakes' || mistakes.length > 0)
    return { type: 'mistakes', mistakes: describeInLineOrder(mistakes) };
  return {
    type: 'settings',
    config: result.config,
    folder,
    warnings: describeInLineOrder([...read.warnings, ...result.warnings.map(locate)]),
  };
}

const MISSING_INSTANCE =
  'INSTANCE_FOLDER names a folder that does not exist. Create the folder, or correct the setting.';

/** Returns why no setting of .env can be read, for programs that must not stop at a mistake in one setting. */
export function unreadableSettings(): string[] {
  const folder = instanceFolder();
  if (!isFolder(folder)) return [MISSING_INSTANCE];
  const file = path.join(folder, '.env');
  const { mistakes, values } = readEnvFile(file, file);
  return values === NO_ENTRIES.values ? mistakes.map(describeMistake) : [];
}

/**
 * Returns .env with the settings of the environment, which may not exist on another machine. Empty if nothing is set.
 * @returns "unwritable" if .env cannot hold some settings of the environment
 */
export function settingsText():
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'unwritable'; readonly names: readonly string[] } {
  const text = currentEnvText();
  const missing = settingsMissingFrom(text);
  if (missing.length === 0) return { type: 'text', text };
  const entries = missing.map((name) => [name, process.env[name] ?? ''] as const);
  const complete = withEntries(text, entries);
  const names = settingsMissingFrom(complete);
  return names.length === 0 ? { type: 'text', text: complete } : { type: 'unwritable', names };
}

function currentEnvText(): string {
  const file = path.join(instanceFolder(), '.env');
  return existsSync(file) ? readEnvSource(file) : '';
}

function settingsMissingFrom(text: string): readonly string[] {
  const { values } = readEnvText(text);
  return SETTING_NAMES.filter((name) => {
    const value = process.env[name];
    return name !== 'INSTANCE_FOLDER' && value !== undefined && value !== values[name];
  });
}

function withEntries(text: string, entries: readonly (readonly [name: string, value: string])[]): string {
  const { lines } = readEnvText(text);
  const overridden = new Set(entries.map(([name]) => lines.get(name)));
  const kept = text.split('\n').map((line, index) => (overridden.has(index + 1) ? `# ${line}` : line));
  const added = entries.map(([name, value]) => `${name}=${quote(value)}`);
  return [...kept.join('\n').trimEnd().split('\n'), '# From the environment:', ...added, '']
    .join('\n')
    .trimStart();
}

function quote(value: string): string {
  const escaped = value.replaceAll('\n', String.raw`\n`);
  const candidates = [`'${value}'`, `"${escaped}"`, `\`${value}\``];
  return candidates.find((one) => !one.includes('\n') && parseEnv(`A=${one}`)['A'] === value) ?? '';
}

const describeInLineOrder = (mistakes: readonly Mistake[]): string[] =>
  mistakes
    .toSorted((one, other) => (one.line ?? Infinity) - (other.line ?? Infinity) || 0)
    .map(describeMistake);

/** Checks a database URL other than DATABASE_URL. */
export function readOtherDatabase(
  option: string,
  url: string,
):
  | { readonly type: 'database'; readonly database: DatabaseAddress; readonly warnings: readonly string[] }
  | { readonly type: 'mistakes'; readonly mistakes: readonly string[] } {
  const read = databaseUrl(url, process.env);
  if ('mistakes' in read)
    return { type: 'mistakes', mistakes: read.mistakes.map((mistake) => `${option} ${mistake}.`) };
  return {
    type: 'database',
    database: resolveDatabase(read.value, instanceFolder()),
    warnings: databaseWarnings(option, read.value),
  };
}

function instanceFolder(): string {
  const folder = process.env['INSTANCE_FOLDER']?.trim();
  return folder ? path.resolve(folder) : PROJECT_FOLDER;
}

/**
 * Reads only this setting, for the build, which must not stop at a mistake in another one.
 * @param restored replaces the text of .env
 * @returns an absolute path, which may not exist
 */
export function readCampaignFolder(restored?: string): string {
  const folder = readSetting('CAMPAIGN_FOLDER', restored);
  return folder ? path.resolve(instanceFolder(), folder) : path.join(PROJECT_FOLDER, 'campaign');
}

/** For the options of commands. An invalid name is reported when the service opens. */
export function readTimeZone(): string {
  const name = readSetting('TIME_ZONE');
  return name !== undefined && isTimeZone(name) ? name : serverTimeZone();
}

/** Returns an empty path at the root of a host or for an invalid URL. */
export const readSitePath = (): string =>
  (URL.parse(readSetting('PUBLIC_URL') ?? '')?.pathname ?? '').replace(/\/$/, '');

/** The settings that need words, for the build. */
export const readWordSettings = () => ({
  guideEmail: readSetting('GUIDE_EMAIL'),
  newLeadEmail: readSetting('NEW_LEAD_EMAIL'),
  freeMail: readSetting('FREE_MAIL'),
});

function readSetting(setting: SettingName, restored?: string): string | undefined {
  const inFile = () => readEnvText(restored ?? currentEnvText()).values[setting];
  return (process.env[setting] ?? orNull(inFile))?.trim();
}

const readEnvSource = (file: string): string =>
  readFileSync(file, 'utf8')
    .replace(/^\uFEFF/, '')
    .replaceAll(/\r\n?/g, '\n');

const NO_ENTRIES: EnvFile = { mistakes: [], warnings: [], values: {}, lines: new Map() };

function readEnvFile(file: string, name: string): EnvFile {
  let text: string;
  try {
    text = readEnvSource(file);
  } catch (error) {
    const code = errorCode(error) ?? '';
    if (code === 'ENOENT') return NO_ENTRIES;
    const message = `The file ${file} cannot be read (${code}). Grant this user read permission.`;
    return { ...NO_ENTRIES, mistakes: [{ message }] };
  }
  const line = lineOfForeignCharacter(text);
  if (line !== null) return { ...NO_ENTRIES, mistakes: [{ file: name, line, message: NOT_UTF_8 }] };
  return readEnvText(text, name);
}

type EnvFile = {
  readonly mistakes: readonly Mistake[];
  readonly warnings: readonly Mistake[];
  readonly values: Readonly<Record<string, string>>;
  readonly lines: ReadonlyMap<string, number>;
};

const ENTRY = /^\s*(?:export\s+)?([^\s=#"'`]+)\s*=(.*)$/;
/** Excludes a "#" that would cut off the value, and a quote whose end is missing or not at the end of the value. */
const VALUE = /^\s*(?:"[^"]*"|'[^']*'|`[^`]*`|[^\s"'`#][^#]*?)?(?:\s+#.*|\s*)$/;

/**
 * Reads entries and finds mistakes, because the server would otherwise silently use a default.
 * @param text with lines that end with \n
 * @param file as the operator calls it
 */
export function readEnvText(text: string, file = '.env'): EnvFile {
  const mistakes: Mistake[] = [];
  const warnings: Mistake[] = [];
  const lines = new Map<string, number>();
  for (const [index, entry] of text.split('\n').entries()) {
    if (/^\s*(?:#|$)/.test(entry)) continue;
    const line = index + 1;
    const add = (message: string) => mistakes.push({ file, line, message });
    const [, name, value = ''] = ENTRY.exec(entry) ?? [];
    if (name === undefined) {
      add('is not a valid line. Write each setting as NAME=value, and begin comments with "#".');
      continue;
    }
    if (!VALUE.test(value))
      add(
        `${name} has a "#" or a quote that would cut off its value. Put the whole value on one line in a type of quotes that it does not contain.`,
      );
    if (!isSettingName(name)) {
      const meant = nearestName(name.toUpperCase(), SETTING_NAMES);
      if (meant !== null) add(notASetting(name, meant));
      else
        warnings.push({
          file,
          line,
          message: `${name} is not a known setting and is ignored. Remove the line if no other program needs it.`,
        });
      continue;
    }
    const earlierLine = lines.get(name);
    if (earlierLine !== undefined)
      add(`${name} is already set in line ${earlierLine}. Keep only one of the two lines.`);
    else lines.set(name, line);
    if (name === 'INSTANCE_FOLDER')
      add(
        `${name} cannot be set here, because it determines the location of .env. Set it in the environment.`,
      );
  }
  // Node would read the next line as the value of an entry that ends with spaces, and a no-break space as part of a name.
  const entries = text.split('\n').map((entry) => entry.replace(ENTRY, '$1=$2').trimEnd());
  const values = parseEnv(entries.join('\n')) as Readonly<Record<string, string>>;
  return { mistakes, warnings, values, lines };
}

const notASetting = (name: string, meant: string) => `${name} is not a setting. Did you mean ${meant}?`;

/** Other programs' names that differ from a setting by one letter. */
const OTHER_PROGRAMS_NAMES = new Set(['API_SECRET', 'LOGLEVEL']);
/** Shorter names (PORT, HOST) resemble too many others outside .env. */
const MIN_CHECKED_LENGTH = 6;

/** Finds misspelt setting names. Ignores a name if the correct one is also set. */
function misspeltNames(env: Readonly<Record<string, string | undefined>>): Mistake[] {
  return Object.keys(env).flatMap((name) => {
    if (isSettingName(name) || OTHER_PROGRAMS_NAMES.has(name)) return [];
    const meant = nearestName(name.toUpperCase(), SETTING_NAMES, 1);
    if (meant === null || meant.length < MIN_CHECKED_LENGTH || env[meant]) return [];
    return [{ message: notASetting(name, meant) }];
  });
}
