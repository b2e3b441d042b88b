// DATABASE_URL, and options of the desk that take the same: which database it names, and what keeps this page from using it.
import path from 'node:path';

import type { DatabaseAddress } from '#server/platform/database-url.ts';
import {
  asksForReading,
  namesSeveralHosts,
  parametersOf,
  withParameters,
} from '#server/platform/postgres-url.ts';
import { isLoopback } from '#server/platform/loopback.ts';
import { bareAtWarnings, loginSlip } from '#server/settings/addresses-in-settings.ts';

const POSTGRES = /^postgres(ql)?:/;

export const isPostgres = (address: string): boolean => POSTGRES.test(address);

/** The database that a value of DATABASE_URL names. */
export const databaseAt = (address: string): DatabaseAddress =>
  isPostgres(address)
    ? { engine: 'postgres', url: address }
    : { engine: 'sqlite', file: address.replace(/^file:(\/\/(?=\/))?/, '') };

/**
 * The same database with every file named in full.
 * @param folder where relative names start
 */
export function resolveDatabase(database: DatabaseAddress, folder: string): DatabaseAddress {
  if (database.engine === 'sqlite') {
    return database.file === ':memory:'
      ? database
      : { ...database, file: path.resolve(folder, database.file) };
  }
  const files = ['sslrootcert', 'sslcert', 'sslkey'];
  const resolved = withParameters(database.url, (parameters) => {
    // As libpq calls the authorities that are trusted here anyway.
    if (parameters.get('sslrootcert') === 'system') parameters.delete('sslrootcert');
    for (const name of files)
      if (parameters.has(name)) parameters.set(name, path.resolve(folder, parameters.get(name) ?? ''));
  });
  return files.some((name) => parametersOf(database.url).has(name))
    ? { ...database, url: resolved }
    : database;
}

/**
 * What keeps this page from working with a PostgreSQL.
 * @param name DATABASE_URL, or the option that holds the address
 * @param env the environment, where pg looks for what the address leaves out
 * @returns one sentence for each; none for an address of something else
 */
export function postgresComplaints(
  name: string,
  address: string,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  if (!isPostgres(address)) return [];
  if (namesSeveralHosts(address))
    return [
      `${name} names several hosts. Name one: managed PostgreSQL, Patroni and PgBouncer have one address that leads to the primary.`,
    ];
  const complaints: string[] = [];
  if (URL.canParse(address) && sendsPassword(address, env) && !saysHowToConnect(address, env)) {
    complaints.push(
      `${name} sends a password to another machine and must say how: add ?sslmode=verify-full (TLS, certificate checked), ?sslmode=no-verify (TLS with any certificate) or ?sslmode=disable (in clear, for a network of your own).`,
    );
  }
  const reading = asksForReading(address);
  if (reading !== null) {
    complaints.push(
      `${name} asks for a host to read from (target_session_attrs=${reading}), and this page writes. Make it read-write.`,
    );
  }
  return complaints;
}

/** What pg reads of an address, and what this page does. */
const PARAMETERS: ReadonlySet<string> = new Set([
  'host',
  'port',
  'user',
  'password',
  'database',
  'options',
  'application_name',
  'fallback_application_name',
  'client_encoding',
  'encoding',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'query_timeout',
  'ssl',
  'sslmode',
  'sslcert',
  'sslkey',
  'sslrootcert',
  'sslnegotiation',
  'uselibpqcompat',
  'target_session_attrs',
  'prepare',
]);

/** Sentences about what the operator allows in an address of PostgreSQL and should know. */
export function postgresWarnings(name: string, address: string): string[] {
  if (!isPostgres(address)) return [];
  const unknown = [...new Set(parametersOf(address).keys())].filter((key) => !PARAMETERS.has(key));
  return [
    ...bareAtWarnings(name, address),
    ...(unknown.length > 0
      ? [
          `${name} has ${unknown.join(' and ')}, which this page does not know and leaves out. Take it out; what PostgreSQL itself is to know goes into options, such as options=-c%20search_path%3Dleads.`,
        ]
      : []),
    ...(sendsPassword(address, {}) && parametersOf(address).get('sslmode') === 'disable'
      ? [`${name} sends all data to PostgreSQL in clear, as its sslmode=disable says.`]
      : []),
  ];
}

/**
 * Checks an address of PostgreSQL the way DATABASE_URL is checked.
 * @param name the option that holds the address
 * @param folder where relative names of files in it start
 * @returns the database and the warnings about it, or one sentence for each complaint
 */
export function readPostgresUrl(
  name: string,
  address: string,
  { env, folder }: { env: Readonly<Record<string, string | undefined>>; folder: string },
):
  | {
      readonly type: 'database';
      readonly database: DatabaseAddress;
      readonly warnings: readonly string[];
    }
  | { readonly type: 'complaints'; readonly complaints: readonly string[] } {
  const slip = loginSlip(address);
  const isAddress = namesSeveralHosts(address) || POSTGRES.test(URL.parse(address)?.protocol ?? '');
  const complaints =
    slip !== null
      ? [`${name} ${slip}.`]
      : isAddress
        ? postgresComplaints(name, address, env)
        : [`${name} must be an address such as postgres://user@host/name.`];
  if (complaints.length > 0) return { type: 'complaints', complaints };
  return {
    type: 'database',
    database: resolveDatabase(databaseAt(address), folder),
    warnings: postgresWarnings(name, address),
  };
}

/** Whether a password goes to PostgreSQL on another machine. */
function sendsPassword(databaseUrl: string, env: Readonly<Record<string, string | undefined>>): boolean {
  const { hostname, password, searchParams } = new URL(databaseUrl);
  const host = searchParams.get('host') ?? (decodeURIComponent(hostname) || (env['PGHOST'] ?? ''));
  const secret = password || searchParams.get('password') || env['PGPASSWORD'];
  // A host that begins with a slash is a socket of this machine.
  return Boolean(secret) && !host.startsWith('/') && !isLoopback(host);
}

/** Whether the address, or the variable that pg reads in its place, decides about TLS. */
const saysHowToConnect = (databaseUrl: string, env: Readonly<Record<string, string | undefined>>): boolean =>
  Boolean(env['PGSSLMODE']) || [...parametersOf(databaseUrl).keys()].some((key) => key.startsWith('ssl'));
