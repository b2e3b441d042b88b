import { statSync } from 'node:fs';

import { CommandFailure } from '#desk/command-failure.ts';
import type { DoctorTarget } from '#desk/doctor/doctor.ts';
import type { Paint } from '#desk/commands/terminal.ts';
import type { Config } from '#server/settings/settings.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { isDatabaseOpen } from '#server/db/backup/backup.ts';
import {
  openService,
  readInstanceOrLastBuild,
  type Instance,
  type Service,
} from '#server/startup/service.ts';
import { describeLostDatabase, explainDatabaseFailure } from '#server/startup/why-the-start-failed.ts';

export type Desk = {
  /**
   * @param database replaces the configured database, and stays open when the service closes
   * @param instance replaces the settings and words
   */
  readonly service: (database?: OpenDatabase, instance?: Instance) => Promise<Service>;
  readonly print: (text: string) => Promise<void>;
  readonly note: (line: string) => void;
  /** Reads standard input; returns null on a terminal. */
  readonly input?: () => AsyncIterable<Uint8Array> | null;
  /** Returns false without a terminal. */
  readonly confirm: (question: string) => Promise<boolean>;
  readonly progress: (line: string) => void;
  readonly paint: (paint: Paint, text: string) => string;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly clock: () => number;
  /** Time zone of the days in options. */
  readonly timeZone: () => string;
  /** Defaults to the DNS servers of this machine. */
  readonly dnsServers?: readonly string[];
  /** Defaults to this instance. */
  readonly doctorTarget?: Pick<DoctorTarget, 'settings' | 'campaignFolder' | 'dnsServers'>;
};

export function readDeskInstance(): Instance {
  const instance = readInstanceOrLastBuild();
  if (instance.type === 'mistakes') throw new CommandFailure(instance.mistakes.join('\n'));
  return instance;
}

/** @throws {CommandFailure} listing all errors in settings and words */
export async function openDeskService(
  replacements: Parameters<typeof openService>[1],
  instance = readDeskInstance(),
): Promise<Service> {
  const { database } = instance.config;
  const isMissing =
    database.engine === 'sqlite' &&
    database.file !== ':memory:' &&
    // Throws if the folder may not be read.
    statSync(database.file, { throwIfNoEntry: false }) === undefined;
  if (isMissing && !replacements?.database) {
    throw new CommandFailure(
      describeLostDatabase(database.file) ??
        `There is no database at ${database.file} yet. Start the site once (npm start), or set INSTANCE_FOLDER to the folder that contains .env and data/.`,
    );
  }
  const opening = await openService(instance, replacements);
  if (opening.type === 'mistakes') throw new CommandFailure(opening.mistakes.join('\n'));
  return opening.service;
}

type SqliteConfig = Extract<Config['database'], { engine: 'sqlite' }>;

export function fileOf({ file }: SqliteConfig): string {
  if (file !== ':memory:') return file;
  throw new CommandFailure(
    'The database is only in memory. Name a file in DATABASE_URL, such as file:./data/leads.db.',
  );
}

export function isInUse(database: SqliteConfig): boolean {
  try {
    return isDatabaseOpen(database.file);
  } catch (error) {
    throw databaseFailure(error, database);
  }
}

/** Returns a {@link CommandFailure} if there is a sentence for this error, or else the error itself. */
export function databaseFailure(error: unknown, database: Config['database'], setting?: string): unknown {
  const sentence = explainDatabaseFailure(error, database, setting);
  return sentence === null ? error : new CommandFailure(sentence);
}
