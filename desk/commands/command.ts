// What every command of the desk works with: the service, the terminal, and how a command ends that cannot do what it was asked.
import type { Patient } from '#desk/doctor/doctor.ts';
import type { Paint } from '#desk/commands/terminal.ts';
import type { Config } from '#server/settings/settings.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { isDatabaseOpen } from '#server/db/whole/restore.ts';
import { openService, readInstance, type Instance, type Service } from '#server/run/service.ts';
import { explainDatabaseFailure } from '#server/run/why-the-start-failed.ts';

export type Desk = {
  /**
   * Opens the service of this instance, once.
   * @param database to be used in the place of its own. It stays open after the service
   * @throws {CommandFailure} when it cannot be opened
   */
  readonly service: (database?: OpenDatabase) => Promise<Service>;
  /** Writes to standard output, and waits until it was taken. @throws {CommandFailure} when it is not */
  readonly print: (text: string) => Promise<void>;
  /** Writes a line for the person at the terminal, never where data goes. */
  readonly note: (line: string) => void;
  /** What is piped into the command; null at a terminal. None if not given. */
  readonly input?: () => AsyncIterable<Uint8Array> | null;
  /** Asks that person; false where nobody can answer. */
  readonly confirm: (question: string) => Promise<boolean>;
  /** How far long work has come. Shown on a terminal only. */
  readonly progress: (line: string) => void;
  /** Colours text for standard output; as it is where no colour is seen or wanted. */
  readonly paint: (paint: Paint, text: string) => string;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Whom to ask about domains; the machine's own DNS servers if not given. */
  readonly dnsServers?: readonly string[];
  /** Whom the doctor looks at; the instance of this process, with the machine's own DNS servers, if not given. */
  readonly patient?: Pick<Patient, 'settings' | 'campaignFolder' | 'dnsServers'>;
};

/** 1: it could not be done. 2: the command was called in a wrong way, and nothing was tried. */
type FailureExit = 1 | 2;

/** Ends a command with a sentence that says what to do next. */
export class CommandFailure extends Error {
  readonly exitCode: FailureExit;

  constructor(sentence: string, exitCode: FailureExit = 1) {
    super(sentence);
    this.exitCode = exitCode;
  }
}

/**
 * Settings and words of this instance.
 * @throws {CommandFailure} with every complaint about them
 */
export function readDeskInstance(): Instance {
  const instance = readInstance();
  if (instance.type === 'complaints') throw new CommandFailure(instance.complaints.join('\n'));
  return instance;
}

/**
 * Opens the service beside a server that may be running: with its settings, words and database.
 * @throws {CommandFailure} with every complaint about them
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
  if (opening.type === 'complaints') throw new CommandFailure(opening.complaints.join('\n'));
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
 * @throws {CommandFailure} when it cannot be told
 */
export function isInUse(database: SqliteConfig): boolean {
  try {
    return isDatabaseOpen(database.file);
  } catch (error) {
    const sentence = explainDatabaseFailure(error, database);
    throw sentence === null ? error : new CommandFailure(sentence);
  }
}
