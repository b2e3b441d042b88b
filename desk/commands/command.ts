// What every command of the desk works with: the service and the terminal.
import { CommandFailure } from '#desk/command-failure.ts';
import type { Patient } from '#desk/doctor/doctor.ts';
import type { Paint } from '#desk/commands/terminal.ts';
import type { Config } from '#server/settings/settings.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { isDatabaseOpen } from '#server/db/backup/restore.ts';
import { openService, readInstance, type Instance, type Service } from '#server/startup/service.ts';
import { explainDatabaseFailure } from '#server/startup/why-the-start-failed.ts';

export type Desk = {
  /**
   * Opens the service of this instance, once.
   * @param database to use instead of the configured one. It stays open after the service
   * @throws {CommandFailure} when it cannot be opened
   */
  readonly service: (database?: OpenDatabase) => Promise<Service>;
  /** Writes to standard output, and waits until the text was taken. @throws {CommandFailure} when it is not */
  readonly print: (text: string) => Promise<void>;
  /** Writes a line for the person at the terminal, never where data goes. */
  readonly note: (line: string) => void;
  /** Returns what is piped into the command; null at a terminal. Without it, nothing is piped in. */
  readonly input?: () => AsyncIterable<Uint8Array> | null;
  /** Asks the person at the terminal for a yes; false where there is no terminal. */
  readonly confirm: (question: string) => Promise<boolean>;
  /** Shows the progress of long work, on a terminal only. */
  readonly progress: (line: string) => void;
  /** Colours text for standard output, where colours are seen and wanted. */
  readonly paint: (paint: Paint, text: string) => string;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** DNS servers to ask; the machine's own if not given. */
  readonly dnsServers?: readonly string[];
  /** The instance that the doctor examines; that of this process if not given. */
  readonly patient?: Pick<Patient, 'settings' | 'campaignFolder' | 'dnsServers'>;
};

/**
 * Settings and words of this instance.
 * @throws {CommandFailure} with every mistake about them
 */
export function readDeskInstance(): Instance {
  const instance = readInstance();
  if (instance.type === 'mistakes') throw new CommandFailure(instance.mistakes.join('\n'));
  return instance;
}

/**
 * Opens the service beside a server that may be running: with its settings, words and database.
 * @throws {CommandFailure} with every mistake about them
 */
export async function openDeskService(
  replacements: Parameters<typeof openService>[1],
  doesFileExist: (file: string) => boolean,
): Promise<Service> {
  const instance = readDeskInstance();
  const { database } = instance.config;
  if (database.engine === 'sqlite' && !replacements?.database && !doesFileExist(database.file)) {
    throw new CommandFailure(
      `There is no database at ${database.file} yet. Start the page once (npm start), or say with INSTANCE_FOLDER where its .env and data/ are.`,
    );
  }
  const opening = await openService(instance, replacements);
  if (opening.type === 'mistakes') throw new CommandFailure(opening.mistakes.join('\n'));
  return opening.service;
}

type SqliteConfig = Extract<Config['database'], { engine: 'sqlite' }>;

/**
 * The file of an SQLite database.
 * @throws {CommandFailure} when it has none
 */
export function fileOf({ file }: SqliteConfig): string {
  if (file !== ':memory:') return file;
  throw new CommandFailure(
    'The database is only in memory. Name a file in DATABASE_URL, such as file:./data/leads.db.',
  );
}

/**
 * Whether any process has an SQLite database open.
 * @throws {CommandFailure} when that cannot be found out
 */
export function isInUse(database: SqliteConfig): boolean {
  try {
    return isDatabaseOpen(database.file);
  } catch (error) {
    const sentence = explainDatabaseFailure(error, database);
    throw sentence === null ? error : new CommandFailure(sentence);
  }
}
