// Where settings come from: the environment, and the file .env of the instance. The one place that looks at process.env.
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { loadEnvFile } from 'node:process';

import { readConfig, resolvePaths, type Config } from '#server/config.ts';
import { openToOthers, sayOpenToOthers } from '#server/private-files.ts';
import { slipsInEnvFile, slipsInEnvironment } from '#server/setting-slips.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');

export type Settings = {
  readonly config: Config;
  /** The folder with .env and data/: where relative names in settings start. The project's own, unless INSTANCE_FOLDER says otherwise. */
  readonly folder: string;
  /** To be said at start, one sentence each. */
  readonly warnings: readonly string[];
};

/**
 * Reads the settings, wherever the process was started from. What the environment sets itself wins over .env.
 * @returns the settings with every file named in full, or one sentence for each complaint
 */
export function readSettings():
  ({ type: 'settings' } & Settings) | { type: 'complaints'; complaints: string[] } {
  const named = process.env['INSTANCE_FOLDER']?.trim();
  // As with any path in a command: relative to where it was typed.
  const folder = named ? path.resolve(named) : PROJECT_FOLDER;
  if (named && !isFolder(folder)) {
    return { type: 'complaints', complaints: ['INSTANCE_FOLDER must be a folder that exists.'] };
  }
  const file = readEnvFile(path.join(folder, '.env'));
  const slips = [...file.complaints, ...slipsInEnvironment(process.env)];
  if (file.found) loadEnvFile(path.join(folder, '.env'));
  const result = readConfig(process.env);
  const complaints = [...slips, ...(result.type === 'complaints' ? result.complaints : [])];
  if (result.type === 'complaints' || complaints.length > 0) return { type: 'complaints', complaints };
  return {
    type: 'settings',
    config: resolvePaths(result.config, folder),
    folder,
    warnings: [...file.warnings, ...result.warnings],
  };
}

const HOLDS_SECRETS = /^\s*(export\s+)?(APP_SECRET|SMTP_URL|DATABASE_URL)\s*=\s*\S/m;

function readEnvFile(file: string): { found: boolean; complaints: string[]; warnings: string[] } {
  try {
    const text = readFileSync(file, 'utf8');
    const { complaints, warnings } = slipsInEnvFile(text);
    if (HOLDS_SECRETS.test(text)) warnings.push(...openToOthers([file]).map(sayOpenToOthers));
    return { found: true, complaints, warnings };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const complaints = code === 'ENOENT' ? [] : [`The file ${file} cannot be read (${code}).`];
    return { found: false, complaints, warnings: [] };
  }
}

const isFolder = (name: string): boolean => statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;
