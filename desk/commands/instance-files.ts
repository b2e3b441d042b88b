// The files that an instance needs besides its database.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { CommandFailure } from '#desk/command-failure.ts';
import { brokenLink, filesIn } from '#server/campaign/campaign-folder.ts';
import type { BackupFile } from '#server/db/backup/backup-files.ts';
import { flushToDisk, makePrivateFolder } from '#server/platform/files.ts';
import { readCampaignFolder, readEnvText, settingsText, type Settings } from '#server/settings/env-file.ts';
import { secretFileOf } from '#server/startup/service.ts';

const WORDS = 'campaign/';
const SECRET = 'app-secret';
const DKIM_KEY = 'dkim-key';
const SETTINGS = '.env';

export function secretFilesOf(instance: Settings): readonly BackupFile[] {
  const settings = settingsText();
  if (settings.type === 'unwritable')
    throw new CommandFailure(
      `No backup was written, because .env cannot hold the value of ${settings.names.join(', ')} in the environment. Change its quotes or line breaks, or add --without-secrets.`,
    );
  const keys = [
    [SECRET, secretPlaceOf(instance)],
    [DKIM_KEY, dkimPlaceOf(instance)],
  ] as const;
  return [
    ...(settings.text === '' ? [] : [{ name: SETTINGS, content: Buffer.from(settings.text) }]),
    ...keys.flatMap(([name, place]) =>
      place === null || !existsSync(place) ? [] : [{ name, content: readFileSync(place) }],
    ),
  ];
}

/** @throws if a folder cannot be read, because the backup would lack its files */
export function wordFiles(folder = readCampaignFolder()): readonly BackupFile[] {
  if (!existsSync(folder))
    throw new CommandFailure(
      `${folder} does not exist, so the words cannot be backed up. Correct CAMPAIGN_FOLDER.`,
    );
  return filesIn(folder, '', (within) => readdirSync(within).toSorted()).map((name) => {
    const file = path.join(folder, name);
    const broken = brokenLink(file);
    if (broken !== null) throw new CommandFailure(`${file} ${broken}.`);
    return { name: WORDS + name, content: readFileSync(file) };
  });
}

/** Returns null if APP_SECRET is set, because the file is then not used. */
const secretPlaceOf = ({ config, folder }: Settings): string | null =>
  config.appSecrets.length > 0 ? null : secretFileOf(config.database, folder);

const dkimPlaceOf = ({ config: { mail } }: Settings): string | null =>
  mail.kind === 'smtp' && mail.dkim ? mail.dkim.privateKeyFile : null;

export type Part = 'database' | 'settings' | 'words';

/** A file or folder that does not yet have the content of the backup. */
export type PlaceToRestore = {
  readonly place: string;
  readonly files: readonly BackupFile[];
  readonly kind: Kind;
};
type Kind = 'settings' | 'secret' | 'dkim key' | 'words';

/** Every backup contains a database. */
export const containsPart = (files: readonly BackupFile[], part: Part): boolean =>
  part === 'database' ||
  files.some(({ name }) => (part === 'words' ? name.startsWith(WORDS) : [SETTINGS, DKIM_KEY].includes(name)));

/** Returns the text of .env if it is to be restored. */
export const settingsIn = (files: readonly BackupFile[], parts: ReadonlySet<Part>): string | undefined =>
  parts.has('settings') ? textIn(files, SETTINGS) : undefined;

/** Returns the newest secret of a backup. */
export function secretIn(files: readonly BackupFile[]): string | null {
  const { APP_SECRET: setting } = readEnvText(textIn(files, SETTINGS) ?? '').values;
  return (textIn(files, SECRET) ?? setting?.split(',')[0])?.trim() || null;
}

function textIn(files: readonly BackupFile[], wanted: string): string | undefined {
  const file = files.find(({ name }) => name === wanted);
  return file && Buffer.from(file.content).toString('utf8');
}

/** @param options settings: those after the restore */
export function placesToRestore(
  files: readonly BackupFile[],
  {
    parts,
    settings,
    campaignFolder,
  }: { parts: ReadonlySet<Part>; settings: Settings; campaignFolder: string },
): readonly PlaceToRestore[] {
  const filesNamed = (name: string) => files.filter((file) => file.name === name);
  const words = files.filter(({ name }) => name.startsWith(WORDS));
  const places: readonly (readonly [Kind, Part, string | null, readonly BackupFile[]])[] = [
    ['secret', 'database', secretPlaceOf(settings), filesNamed(SECRET)],
    ['settings', 'settings', path.join(settings.folder, '.env'), filesNamed(SETTINGS)],
    ['dkim key', 'settings', dkimPlaceOf(settings), filesNamed(DKIM_KEY)],
    ['words', 'words', campaignFolder, words],
  ];
  return places.flatMap(([kind, part, target, content]) => {
    if (target === null || content.length === 0 || !parts.has(part)) return [];
    const toRestore = { kind, place: resolveLinks(target), files: content };
    return isUpToDate(toRestore) ? [] : [toRestore];
  });
}

/** Returns the same name if it does not exist. */
const resolveLinks = (name: string): string => (existsSync(name) ? realpathSync(name) : name);

/** Finds paths that lead out of the campaign folder. */
export const unexpectedName = (files: readonly BackupFile[]): string | undefined =>
  files
    .map(({ name }) => name)
    .find((name) =>
      name.startsWith(WORDS)
        ? path.posix.normalize(name) !== name || name.includes('\0')
        : ![SETTINGS, SECRET, DKIM_KEY].includes(name),
    );

function isUpToDate({ kind, place, files }: PlaceToRestore): boolean {
  if (kind === 'words') {
    if (!existsSync(place)) return false;
    const present = new Map(wordFiles(place).map(({ name, content }) => [name, content]));
    return (
      files.length === present.size && files.every(({ name, content }) => isSame(present.get(name), content))
    );
  }
  return (
    statSync(place, { throwIfNoEntry: false })?.isFile() === true &&
    isSame(readFileSync(place), files[0]?.content)
  );
}

const isSame = (one: Uint8Array | undefined, other: Uint8Array | undefined): boolean =>
  one !== undefined && other !== undefined && Buffer.compare(one, other) === 0;

export function stage({ kind, files }: PlaceToRestore, staged: string): void {
  if (kind !== 'words') {
    makePrivateFolder(path.dirname(staged));
    for (const { content } of files) writeFileSync(staged, content, { mode: 0o600, flag: 'wx' });
    flushToDisk(staged);
    return;
  }
  for (const { name, content } of files) {
    const file = path.join(staged, name.slice(WORDS.length));
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content, { flag: 'wx' });
    flushToDisk(file);
  }
}
