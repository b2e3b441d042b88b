// Restores a backup: a SQLite database with one more table, for settings, secrets and campaign files. Tries everything on copies.
import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  openSync,
  realpathSync,
  statSync,
  type Stats,
} from 'node:fs';
import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';

import { Option, type Command } from '@commander-js/extra-typings';

import {
  copyRows,
  describeContents,
  describeUnfit,
  explainFullDisk,
  sourceOf,
} from '#desk/commands/backup.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import { databaseFailure, fileOf, isInUse, type Desk } from '#desk/commands/command.ts';
import { examples } from '#desk/commands/help.ts';
import {
  containsPart,
  secretIn,
  settingsIn,
  stage,
  unexpectedName,
  placesToRestore,
  type Part,
  type PlaceToRestore,
} from '#desk/commands/instance-files.ts';
import { mustHaveNoOtherClients, toPostgres } from '#desk/commands/move.ts';
import { temporaryNameFor, resolveOutputFile, explainWriteErrors } from '#desk/commands/output-file.ts';
import { printable } from '#desk/printable.ts';
import { shellWord } from '#server/platform/text.ts';
import { readCampaign } from '#server/campaign/campaign.ts';
import { deleteDeskAccess } from '#server/db/tables/desk-access.ts';
import { openDatabase } from '#server/db/engine/connect.ts';
import { dropBackupFiles, type BackupFile } from '#server/db/backup/backup-files.ts';
import {
  databaseFiles,
  inspectDatabase,
  moveIntoPlace,
  type Inspection,
  type Replacement,
} from '#server/db/backup/backup.ts';
import { makePrivateFolder } from '#server/platform/files.ts';
import { isoTime } from '#server/platform/time.ts';
import { readCampaignFolder, readSettings, type Settings } from '#server/settings/env-file.ts';
import { instanceFrom, type Instance } from '#server/startup/service.ts';

const ASK_FOR_BACKUP = 'Name a file written by "backup".';
const ADVICE = {
  'no database': ASK_FOR_BACKUP,
  newer: 'Restore it with that version, or name an older backup.',
  damaged: 'Use an older backup, or recover its data (docs/running.md).',
  unfit: ASK_FOR_BACKUP,
} as const;
/** The words are the campaign folder. */
const PARTS = ['database', 'settings', 'words'] as const;

export function addRestore(program: Command, desk: Desk): void {
  program
    .command('restore')
    .description('restore the database, the settings, the secrets and the words from a backup')
    .argument('<file>')
    .addOption(
      new Option('--only <part>', 'restore one part; the secret belongs to the database').choices(PARTS),
    )
    .option('--replace', 'replace what exists and differs; the previous version is kept next to it')
    .addHelpText(
      'after',
      `
Stop the site first. Before anything changes, refuses a damaged file, unknown tables, a backup from a later release, a secret
that does not belong to a restored database, and a disk without enough space. Refuses to replace a database, settings or
words without --replace. PostgreSQL must be empty. The environment overrides restored settings. Desk users must sign in again
and add their passkeys again. Restore only files that you trust, because they contain settings and words.
${examples('restore /backups/leads-2026-11-21.backup', 'restore /backups/leads-2026-11-21.backup --only database --replace')}`,
    )
    .action(async (file, { only, replace = false }) => {
      mustBeCompleteFile(file);
      desk.progress(`Checking ${file} …`);
      const plan = await planRestore(file, { only, replace, now: desk.clock() });
      try {
        const restored = await stageAndTry(desk, plan);
        const kept = await applyPlan(desk, plan);
        noteResult(desk, plan, { restored, kept });
      } finally {
        const replacements = [plan.stagedDatabase, ...plan.fileReplacements].filter((one) => one !== null);
        for (const name of replacements.flatMap(({ staged }) => databaseFiles(staged)))
          await rm(name, { force: true, recursive: true });
      }
    });
}

function mustBeCompleteFile(file: string): void {
  const found = statOf(file);
  if (found === undefined) throw new CommandFailure(`${file} does not exist. ${ASK_FOR_BACKUP}`);
  if (!found.isFile()) throw new CommandFailure(`${file} is not a file. ${ASK_FOR_BACKUP}`);
  if (found.size === 0) throw new CommandFailure(`${file} is empty. ${ASK_FOR_BACKUP}`);
  const real = realpathSync(file);
  // Without its write-ahead log or journal, the backup is outdated or contains half a change.
  const log = ['-wal', '-journal'].find((suffix) => (statOf(real + suffix)?.size ?? 0) > 0);
  if (log !== undefined)
    throw new CommandFailure(
      `${file} is incomplete: its last changes are in ${real}${log}. Merge the two files: sqlite3 ${shellWord(real)} "pragma integrity_check; pragma wal_checkpoint(truncate)"`,
    );
  // An unreadable file fails here, so later failures concern the copy.
  closeSync(openSync(file, 'r'));
}

const statOf = (file: string): Stats | undefined => statSync(file, { throwIfNoEntry: false });

type Plan = {
  readonly file: string;
  readonly currentSettings: ReturnType<typeof readSettings>;
  /** The settings after the restore. */
  readonly settingsAfter: Settings;
  readonly campaignFolder: string;
  /** Null if the database is not restored. With PostgreSQL, the staged copy is tried, and its rows are copied. */
  readonly stagedDatabase: Replacement | null;
  /** Only of files that differ from the backup. */
  readonly fileReplacements: readonly FileReplacement[];
};

type FileReplacement = PlaceToRestore & Replacement;

async function planRestore(
  file: string,
  { only, replace, now }: { only: Part | undefined; replace: boolean; now: number },
): Promise<Plan> {
  const parts: ReadonlySet<Part> = new Set(only === undefined ? PARTS : [only]);
  const currentSettings = readSettings();
  // Checked now, because its settings determine where the copy belongs. stageDatabase checks the copy.
  const { files } = await mustBeFit(file, file);
  const settingsAfter = readSettingsAfter(files, parts);
  if (only !== undefined && !containsPart(files, only))
    throw new CommandFailure(
      `Nothing was changed, because ${file} contains no ${only}. Name another backup.`,
    );
  if (parts.has('database')) mustHaveSecret(settingsAfter, secretIn(files), file);
  const databasePlace = parts.has('database') ? await prepareDatabasePlace(settingsAfter, file) : null;
  const campaignFolder = readCampaignFolder(settingsIn(files, parts));
  const placesOfFiles = placesToRestore(files, { parts, settings: settingsAfter, campaignFolder });
  if (!replace)
    mustBeFree([
      ...placesOfFiles.map(({ place }) => place),
      ...(databasePlace !== null && settingsAfter.config.database.engine === 'sqlite' ? [databasePlace] : []),
    ]);
  const time = isoTime(now).replaceAll(/[-:]|\..*/g, '');
  return {
    file,
    currentSettings,
    settingsAfter,
    campaignFolder,
    stagedDatabase: databasePlace === null ? null : replacementOf(databasePlace, time),
    fileReplacements: placesOfFiles.map((one) => ({ ...one, ...replacementOf(one.place, time) })),
  };
}

/** Stages everything and tries it. applyPlan then moves the staged files into place. */
async function stageAndTry(desk: Desk, plan: Plan): Promise<RestoredDatabase | null> {
  const { file, currentSettings, stagedDatabase, fileReplacements } = plan;
  for (const one of fileReplacements) await explainWriteErrors(one.place, async () => stage(one, one.staged));
  const instance = trialInstance(plan);
  const restored =
    stagedDatabase === null
      ? null
      : await stageDatabase(desk, { file, replacement: stagedDatabase, instance });
  // Comes last, because the site could start meanwhile. A running site uses the current settings.
  if (currentSettings.type === 'settings') mustNotBeInUse(currentSettings.config.database);
  mustNotBeInUse(plan.settingsAfter.config.database);
  desk.signal.throwIfAborted();
  return restored;
}

/** @returns the replacements whose previous version was kept */
async function applyPlan(
  desk: Desk,
  { settingsAfter, stagedDatabase, fileReplacements }: Plan,
): Promise<ReadonlySet<Replacement>> {
  const { database } = settingsAfter.config;
  const replacements =
    stagedDatabase !== null && database.engine === 'sqlite'
      ? [stagedDatabase, ...fileReplacements]
      : fileReplacements;
  const kept = new Set(replacements.filter(({ place }) => existsSync(place)));
  // PostgreSQL is filled last. If that fails, everything is moved back.
  await explainWriteErrors(settingsAfter.folder, () =>
    moveIntoPlace(replacements, async () => {
      if (stagedDatabase !== null && database.engine === 'postgres')
        await fillPostgres(desk, database, stagedDatabase);
    }),
  );
  return kept;
}

function noteResult(
  desk: Desk,
  { file, settingsAfter, stagedDatabase, fileReplacements }: Plan,
  { restored, kept }: { restored: RestoredDatabase | null; kept: ReadonlySet<Replacement> },
): void {
  if (restored)
    desk.note(
      `${sourceOf(settingsAfter.config.database)} was restored from ${file}, with ${describeContents(restored.contents)}.`,
    );
  if (stagedDatabase && kept.has(stagedDatabase))
    desk.note(`The previous database was kept as ${stagedDatabase.kept}.`);
  for (const one of fileReplacements) {
    desk.note(`${one.place} was restored.`);
    if (kept.has(one)) desk.note(`The previous version was kept as ${one.kept}.`);
  }
  if (!restored && fileReplacements.length === 0)
    desk.note('Nothing was changed, because everything is as in the backup.');
  if (fileReplacements.length > 0) desk.note('Build the site (npm run build) before you start it.');
  if (restored?.hadDeskAccess)
    desk.note(
      'Desk sessions, sign-ins and passkeys were not restored. Desk users must sign in with an e-mailed code and add their passkeys again.',
    );
  for (const warning of restored?.warnings ?? []) desk.note(`Warning: ${warning}`);
}

function readSettingsAfter(files: readonly BackupFile[], parts: ReadonlySet<Part>): Settings {
  const restored = settingsIn(files, parts);
  const settings = readSettings(restored);
  if (settings.type === 'settings') return settings;
  throw new CommandFailure(
    [
      ...settings.mistakes,
      ...(restored === undefined ? [] : ['These settings are in the backup. To keep yours: --only database']),
    ].join('\n'),
  );
}

/** If APP_SECRET is set, it must contain the backup's secret, because a restored secret file would be ignored. */
function mustHaveSecret({ config: { appSecrets } }: Settings, secret: string | null, file: string): void {
  if (secret === null || appSecrets.length === 0 || appSecrets.includes(secret)) return;
  throw new CommandFailure(
    `Nothing was changed, because APP_SECRET lacks the secret of ${file}, which links in sent e-mails and the consent chain need. Add it (APP_SECRET=new,old), or remove APP_SECRET and restore the settings too.`,
  );
}

/** Returns the place of the database and creates its folder. For PostgreSQL, the copy is only staged there. */
async function prepareDatabasePlace(
  { config: { database }, folder }: Settings,
  file: string,
): Promise<string> {
  const name = database.engine === 'sqlite' ? fileOf(database) : path.join(folder, 'data', 'restored.db');
  const [found, current] = [statOf(file), statOf(name)];
  if (found?.dev === current?.dev && found?.ino === current?.ino)
    throw new CommandFailure(`${file} is the database itself. ${ASK_FOR_BACKUP}`);
  // A new machine may not have this folder.
  await explainWriteErrors(name, async () => makePrivateFolder(path.dirname(name)));
  return resolveOutputFile(name, 'a database');
}

function mustBeFree(places: readonly string[]): void {
  const existing = places.filter((place) => existsSync(place));
  if (existing.length > 0)
    throw new CommandFailure(
      `Nothing was changed, because ${existing.join(', ')} already ${existing.length === 1 ? 'exists' : 'exist'}. To replace and keep the previous version next to it, add --replace. To restore one part, add --only database, --only settings or --only words.`,
    );
}

const replacementOf = (place: string, time: string): Replacement => ({
  staged: temporaryNameFor(place),
  place,
  kept: `${place}.before-${time}`,
});

/** Returns the instance after the restore, but with the staged files. */
function trialInstance({ settingsAfter, campaignFolder, fileReplacements }: Plan): Instance {
  const ofKind = (wanted: PlaceToRestore['kind']) => fileReplacements.find(({ kind }) => kind === wanted);
  const secret = ofKind('secret')?.files[0];
  const privateKeyFile = ofKind('dkim key')?.staged;
  const { config } = settingsAfter;
  const { mail } = config;
  const trialSettings = {
    ...settingsAfter,
    type: 'settings' as const,
    config: {
      ...config,
      appSecrets: secret ? [Buffer.from(secret.content).toString('utf8').trim()] : config.appSecrets,
      mail:
        privateKeyFile !== undefined && mail.kind === 'smtp' && mail.dkim
          ? { ...mail, dkim: { ...mail.dkim, privateKeyFile } }
          : mail,
    },
  };
  const words = ofKind('words');
  const instance = instanceFrom(trialSettings, readCampaign(words?.staged ?? campaignFolder));
  if (instance.type === 'instance') return instance;
  const mistakes = instance.mistakes.join('\n');
  if (words === undefined) throw new CommandFailure(mistakes);
  // The staged folder will be deleted.
  const shownMistakes = mistakes.replaceAll(path.basename(words.staged), path.basename(words.place));
  throw new CommandFailure(
    `${shownMistakes}\nThese words are in the backup. To restore the rest, use --only database, then --only settings.`,
  );
}

function mustNotBeInUse(database: Settings['config']['database']): void {
  if (database.engine === 'sqlite' && isInUse(database))
    throw new CommandFailure(`${database.file} is in use, so nothing was changed. Stop the site first.`);
}

type Fit = Extract<Inspection, { type: 'fit' }>;

async function mustBeFit(copy: string, file: string): Promise<Fit> {
  const inspection = await inspectDatabase(copy);
  if (inspection.type !== 'fit')
    throw new CommandFailure(`${file} ${describeUnfit(inspection)}. ${ADVICE[inspection.type]}`);
  const unexpected = unexpectedName(inspection.files);
  if (unexpected !== undefined)
    throw new CommandFailure(
      `${file} contains a file with an unexpected name (${printable(unexpected)}). ${ASK_FOR_BACKUP}`,
    );
  return inspection;
}

type RestoredDatabase = {
  readonly contents: Fit;
  readonly hadDeskAccess: boolean;
  readonly warnings: readonly string[];
};

async function stageDatabase(
  desk: Desk,
  {
    file,
    replacement: { staged, place },
    instance,
  }: { file: string; replacement: Replacement; instance: Instance },
): Promise<RestoredDatabase> {
  desk.progress(`Copying ${file} …`);
  // copyFile would give the copy the permissions of the backup.
  await explainWriteErrors(place, () =>
    pipeline(createReadStream(file), createWriteStream(staged, { flags: 'wx', mode: 0o600 })),
  );
  const contents = await mustBeFit(staged, file);
  desk.signal.throwIfAborted();
  await explainFullDisk(place, async () => dropBackupFiles(staged));
  const migrated = await migrateCopy(desk, staged, instance);
  await explainWriteErrors(place, async () => {
    await using handle = await open(staged, 'r+');
    await handle.sync();
  });
  return { contents, ...migrated };
}

/**
 * Migrates the copy by opening the service on it, as the next start would, so a wrong secret or a full disk fails before anything
 * changes. Deletes the desk's sessions and passkeys, because someone with write access to the backup could have planted them.
 */
async function migrateCopy(
  desk: Desk,
  file: string,
  instance: Instance,
): Promise<Omit<RestoredDatabase, 'contents'>> {
  const copy = openDatabase({ engine: 'sqlite', file }, () => {});
  try {
    const { warnings, close } = await desk.service(copy, instance);
    await close();
    const deleted = await deleteDeskAccess(copy.db, { except: [] });
    return { warnings, hadDeskAccess: deleted > 0 };
  } finally {
    await copy.close();
  }
}

async function fillPostgres(
  desk: Desk,
  database: Extract<Settings['config']['database'], { engine: 'postgres' }>,
  { staged }: Replacement,
): Promise<void> {
  await mustHaveNoOtherClients(database);
  const source = openDatabase({ engine: 'sqlite', file: staged }, () => {});
  try {
    await toPostgres(database, (target) => copyRows(desk, { source, target, isVerbose: false }));
  } catch (error) {
    throw databaseFailure(error, database);
  } finally {
    await source.close();
  }
}
