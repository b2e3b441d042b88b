// Where settings come from: the environment, and the file .env of the instance. The one place that looks at process.env.
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';

import { errorCode } from '#server/platform/error-code.ts';
import { PROJECT_FOLDER } from '#server/platform/project-folder.ts';
import { databaseAt, readPostgresUrl, resolveDatabase } from '#server/settings/database-setting.ts';
import { readConfig, resolvePaths, type Config } from '#server/settings/settings.ts';
import { openToOthers, sayOpenToOthers } from '#server/platform/private-files.ts';
import { readEnvText, slipsInEnvironment, type EnvFile } from '#server/settings/misspelt-settings.ts';

export type Settings = {
  readonly config: Config;
  /** The folder with .env and data/: where relative names in settings start. The project's own, unless INSTANCE_FOLDER says otherwise. */
  readonly folder: string;
  /** One sentence each, to be logged at start. */
  readonly warnings: readonly string[];
};

/**
 * Reads the settings, wherever the process was started from. What the environment sets itself wins over .env.
 * @returns the settings with every file named in full, or one sentence for each complaint
 */
export function readSettings():
  ({ type: 'settings' } & Settings) | { type: 'complaints'; complaints: string[] } {
  const folder = instanceFolder();
  if (!isFolder(folder)) {
    return { type: 'complaints', complaints: ['INSTANCE_FOLDER must be a folder that exists.'] };
  }
  const name = path.join(folder, '.env');
  const file = readEnvFile(name, folder === PROJECT_FOLDER ? '.env' : name);
  const slips = [...file.complaints, ...slipsInEnvironment(process.env)];
  for (const [setting, value] of Object.entries(file.values)) process.env[setting] ??= value;
  const result = readConfig(process.env);
  // A complaint about a value from the file names its line.
  const place = (sentence: string): string => {
    const [setting = ''] = /^[A-Z_]+/.exec(sentence) ?? [];
    const line = process.env[setting] === file.values[setting] ? file.lines.get(setting) : undefined;
    return line === undefined ? sentence : `${file.name}:${line}: ${sentence}`;
  };
  const complaints = [...slips, ...(result.type === 'complaints' ? result.complaints.map(place) : [])];
  if (result.type === 'complaints' || complaints.length > 0) return { type: 'complaints', complaints };
  return {
    type: 'settings',
    config: resolvePaths(result.config, folder),
    folder,
    warnings: [...file.warnings, ...result.warnings.map(place)],
  };
}

/**
 * Checks the address of another database than DATABASE_URL, once the settings were read.
 * @param option the option that holds the address
 */
export const readOtherDatabase = (option: string, address: string): ReturnType<typeof readPostgresUrl> =>
  address.startsWith('file:')
    ? {
        type: 'database',
        database: resolveDatabase(databaseAt(address), instanceFolder()),
        warnings: [],
      }
    : readPostgresUrl(option, address, { env: process.env, folder: instanceFolder() });

/** Relative to the working folder, as any path in a command. */
function instanceFolder(): string {
  const named = process.env['INSTANCE_FOLDER']?.trim();
  return named ? path.resolve(named) : PROJECT_FOLDER;
}

/**
 * Where the words and pictures are that CAMPAIGN_FOLDER names. The build asks here too: it needs no other setting, and must
 * not be stopped by a slip in one.
 * @returns the folder in full; the project's campaign/ if none is named. It may not exist
 */
export function readCampaignFolder(): string {
  const named = readOne('CAMPAIGN_FOLDER');
  return named ? path.resolve(instanceFolder(), named) : path.join(PROJECT_FOLDER, 'campaign');
}

/** The path of PUBLIC_URL, which the build puts into every address; empty at the root of a host, or when PUBLIC_URL is no URL. */
export const readSitePath = (): string =>
  (URL.parse(readOne('PUBLIC_URL') ?? '')?.pathname ?? '').replace(/\/$/, '');

/** One setting, without looking at the others. */
function readOne(setting: 'CAMPAIGN_FOLDER' | 'PUBLIC_URL'): string | undefined {
  try {
    return (process.env[setting] ?? parseEnv(textOf(path.join(instanceFolder(), '.env')))[setting])?.trim();
  } catch {
    // readSettings reports a file that cannot be read.
    return undefined;
  }
}

/** The text of a file, without a byte order mark, lines ending with \n. */
const textOf = (file: string): string =>
  readFileSync(file, 'utf8')
    .replace(/^\uFEFF/, '')
    .replaceAll(/\r\n?/g, '\n');

const HOLDS_SECRETS =
  /^\s*(export\s+)?(APP_SECRET|SMTP_URL|DATABASE_URL|MAIL_EVENTS_POSTMARK_LOGIN|MAIL_EVENTS_MAILGUN_KEY)\s*=\s*\S/m;

const NO_FILE: EnvFile = { complaints: [], warnings: [], values: {}, lines: new Map() };

/** @param name the name to use in sentences */
function readEnvFile(file: string, name: string): EnvFile & { readonly name: string } {
  try {
    const text = textOf(file);
    // Bytes that are not UTF-8, and the zero bytes of UTF-16.
    const foreign = text.search(/[\uFFFD\0]/);
    if (foreign >= 0) {
      const line = text.slice(0, foreign).split('\n').length;
      const complaint = `${name}:${line}: is not written in UTF-8; save the file as UTF-8 in your editor.`;
      return { ...NO_FILE, name, complaints: [complaint] };
    }
    const read = readEnvText(text, name);
    const open = HOLDS_SECRETS.test(text) ? openToOthers([file]).map(sayOpenToOthers) : [];
    return { ...read, name, warnings: [...read.warnings, ...open] };
  } catch (error) {
    const code = errorCode(error) ?? '';
    const complaints = code === 'ENOENT' ? [] : [`The file ${file} cannot be read (${code}).`];
    return { ...NO_FILE, name, complaints };
  }
}

const isFolder = (name: string): boolean => statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;
