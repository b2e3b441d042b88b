// Reads settings from the environment and from .env; the only file that reads process.env.
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';

import type { DatabaseAddress } from '#server/platform/database-url.ts';
import { errorCode } from '#server/platform/system-errors.ts';
import { sayMistake, type Mistake } from '#server/platform/mistakes.ts';
import { openToOthers, PROJECT_FOLDER, sayOpenToOthers } from '#server/platform/files.ts';
import { databaseUrl, databaseWarnings, resolveDatabase } from '#server/settings/database-setting.ts';
import { misspeltNames, readEnvText, type EnvFile } from '#server/settings/env-text.ts';
import { readConfig, resolvePaths, type Config } from '#server/settings/settings.ts';

export type Settings = {
  readonly config: Config;
  /** The folder of .env and data/, where relative paths start: INSTANCE_FOLDER, or the project. */
  readonly folder: string;
  readonly warnings: readonly string[];
};

/**
 * The environment overrides .env.
 * @returns settings with absolute paths, or one sentence per mistake with its place
 */
export function readSettings(): ({ type: 'settings' } & Settings) | { type: 'mistakes'; mistakes: string[] } {
  const folder = instanceFolder();
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    return { type: 'mistakes', mistakes: ['INSTANCE_FOLDER must be a folder that exists.'] };
  const file = path.join(folder, '.env');
  const name = folder === PROJECT_FOLDER ? '.env' : file;
  const read = readEnvFile(file, name);
  const misspelt = misspeltNames(process.env);
  for (const [setting, value] of Object.entries(read.values)) process.env[setting] ??= value;
  const result = readConfig(process.env);
  const place = (message: string): Mistake => {
    const [setting = ''] = /^[A-Z_]+/.exec(message) ?? [];
    const line = process.env[setting] === read.values[setting] ? read.lines.get(setting) : undefined;
    return line === undefined ? { message } : { file: name, line, message };
  };
  const mistakes = [
    ...read.mistakes,
    ...misspelt,
    ...(result.type === 'mistakes' ? result.mistakes.map(place) : []),
  ];
  if (result.type === 'mistakes' || mistakes.length > 0)
    return { type: 'mistakes', mistakes: inOrderOfLines(mistakes) };
  return {
    type: 'settings',
    config: resolvePaths(result.config, folder),
    folder,
    warnings: inOrderOfLines([...read.warnings, ...result.warnings.map(place)]),
  };
}

const inOrderOfLines = (mistakes: readonly Mistake[]): string[] =>
  mistakes.toSorted((one, other) => (one.line ?? Infinity) - (other.line ?? Infinity) || 0).map(sayMistake);

/**
 * Checks a database URL other than DATABASE_URL.
 * @param option of the command, for the sentence
 */
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
  const named = process.env['INSTANCE_FOLDER']?.trim();
  return named ? path.resolve(named) : PROJECT_FOLDER;
}

/**
 * Used by the build, which must not stop at a mistake in another setting.
 * @returns the absolute path of the campaign, which may not exist
 */
export function readCampaignFolder(): string {
  const named = readOne('CAMPAIGN_FOLDER');
  return named ? path.resolve(instanceFolder(), named) : path.join(PROJECT_FOLDER, 'campaign');
}

/** The path of PUBLIC_URL; empty at the root of a host or for an invalid URL. */
export const readSitePath = (): string =>
  (URL.parse(readOne('PUBLIC_URL') ?? '')?.pathname ?? '').replace(/\/$/, '');

function readOne(setting: 'CAMPAIGN_FOLDER' | 'PUBLIC_URL'): string | undefined {
  try {
    return (process.env[setting] ?? parseEnv(textOf(path.join(instanceFolder(), '.env')))[setting])?.trim();
  } catch {
    return undefined;
  }
}

/** Without a byte order mark, lines ending with \n. */
const textOf = (file: string): string =>
  readFileSync(file, 'utf8')
    .replace(/^\uFEFF/, '')
    .replaceAll(/\r\n?/g, '\n');

const HOLDS_SECRETS =
  /^\s*(export\s+)?(APP_SECRET|SMTP_URL|DATABASE_URL|MAIL_EVENTS_POSTMARK_LOGIN|MAIL_EVENTS_MAILGUN_KEY)\s*=\s*\S/m;

const NO_ENTRIES: EnvFile = { mistakes: [], warnings: [], values: {}, lines: new Map() };

/** @param name for messages */
function readEnvFile(file: string, name: string): EnvFile {
  let text: string;
  try {
    text = textOf(file);
  } catch (error) {
    const code = errorCode(error) ?? '';
    return code === 'ENOENT'
      ? NO_ENTRIES
      : { ...NO_ENTRIES, mistakes: [{ message: `The file ${file} cannot be read (${code}).` }] };
  }
  // Bytes that are not UTF-8, and the zero bytes of UTF-16.
  const foreign = text.search(/[\uFFFD\0]/);
  if (foreign >= 0) {
    const line = text.slice(0, foreign).split('\n').length;
    const message = 'is not written in UTF-8. Save the file as UTF-8 in your editor.';
    return { ...NO_ENTRIES, mistakes: [{ file: name, line, message }] };
  }
  const read = readEnvText(text, name);
  const open = HOLDS_SECRETS.test(text) ? openToOthers([file]).map(sayOpenToOthers) : [];
  return { ...read, warnings: [...read.warnings, ...open.map((message) => ({ message }))] };
}
