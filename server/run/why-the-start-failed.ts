// Explains to the operator, in a sentence, why the server could not start or the database cannot be used. An error that neither this file
// nor machine-failures.ts lists is a fault of ours.
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';

import type { Config } from '#server/settings/settings.ts';
import { isOfNewerVersion } from '#server/db/migrations/migrate.ts';
import { explainSystemFailure, firstOf } from '#server/platform/machine-failures.ts';
import { hostUrls, sayHosts } from '#server/platform/postgres-hosts.ts';
import { API } from '#shared/api.ts';

/** Warnings at the start, which goes on. */
export const NEWER_DATABASE =
  'The database was used by a newer version of this page. This one can serve with it; for commands of the desk, use the newer one.';
export const STRANGE_SECRET =
  'The secret is none that this database was used with: visitors who are signed in or wait for a code must ask for a new one. If that is not what you want, stop and put the old secret behind the new one: APP_SECRET=new,old';

/**
 * Why the secret in a file does not fit the database.
 * @returns sentences, with what to do
 */
export const saySecretUnfit = (file: string, what: 'missing' | 'strange'): string =>
  `${file} ${
    what === 'missing'
      ? 'is missing, though this database was used with a secret before'
      : 'is none that this database was used with'
  }. Put the file back from a backup, or set APP_SECRET to that secret. ` +
  'To go on without it, set APP_SECRET to a new one (openssl rand -base64 32): visitors who are signed in or wait for a code must then ask for a new one, ' +
  'links in mails end, and nobody knows any more who was erased and must not come back.';

type Failure = Error & {
  readonly code?: unknown;
  readonly errcode?: unknown;
  readonly syscall?: unknown;
  readonly path?: unknown;
  /** Of PostgreSQL. */
  readonly severity?: unknown;
};

/**
 * Explains an error that ended a piece of work, such as a command of the desk.
 * @param database that was in use; null: none yet
 * @returns one sentence, or null for a fault of ours
 */
export function explainFailure(error: unknown, database: Config['database'] | null): string | null {
  const sentence = explainSystemFailure(error);
  if (sentence !== null || database === null) return sentence;
  const failure: Failure | null = firstOf(error);
  // A missing file is not the database, and an error of SQLite is not one of PostgreSQL.
  if (failure === null || 'path' in failure) return null;
  const isSqlite = typeof failure.errcode === 'number';
  return isSqlite === (database.engine === 'sqlite') ? explainDatabaseFailure(error, database) : null;
}

/**
 * Explains an error of opening or migrating the database.
 * @param setting name of the setting that names the database
 * @returns one sentence, or null for an error that is not listed
 */
export function explainDatabaseFailure(
  error: unknown,
  database: Config['database'],
  setting = 'DATABASE_URL',
): string | null {
  const failure = firstOf(error);
  if (failure === null) return null;
  if (isOfNewerVersion(failure)) {
    return `The database was used by a newer version of this page. Start that version, or name another database in ${setting}.`;
  }
  return database.engine === 'sqlite'
    ? explainSqlite(failure, database.file)
    : explainHosts(error, failure, database.url, setting);
}

/** Explains the failure of each of several hosts. */
function explainHosts(error: unknown, failure: Failure, url: string, setting: string): string | null {
  const hosts = hostUrls(url);
  if (hosts.length === 1 || !(error instanceof AggregateError)) return explainPostgres(failure, url, setting);
  const sentences = hosts.map((host, index) => {
    const one = firstOf(error.errors[index]);
    return one && explainPostgres(one, host, setting);
  });
  return sentences.includes(null) ? null : sentences.join(' ');
}

/** SQLITE_IOERR_SHMOPEN, _SHMSIZE, _SHMLOCK and _SHMMAP. */
const SHARED_MEMORY = new Set([18, 19, 20, 21].map((kind) => 10 | (kind << 8)));

// The primary result codes of SQLite: the low eight bits of what it reports.
function explainSqlite(failure: Failure, file: string): string | null {
  const code = typeof failure.code === 'string' ? failure.code : '';
  const primary = typeof failure.errcode === 'number' ? failure.errcode & 0xff : null;
  if (primary === 26 || primary === 11) {
    return `${file} is no SQLite database, or is damaged. Put it back from a backup, or name another file in DATABASE_URL.`;
  }
  // SQLite has one code for both.
  if (primary === 5 || primary === 6)
    return `${file} is locked by another program, or its disk knows no locks, as some network shares. Stop that program, or name a file on a disk of this machine in DATABASE_URL.`;
  if (SHARED_MEMORY.has(Number(failure.errcode)))
    return `The disk of ${file} lets no programs share memory (mmap), as some network shares. Name a file on a disk of this machine in DATABASE_URL.`;
  if (primary === 10)
    return `The disk of ${file} reports an error. Look into the system's log (dmesg), and check the disk.`;
  if (primary === 13 || code === 'ENOSPC')
    return `There is no room on the disk for ${file}. Make some, and try again.`;
  if (code === 'EFTYPE')
    return `${file} is a device, a pipe or a socket, and was left as it was. Name a file in DATABASE_URL.`;
  if (code === 'EISDIR') return `${file} is a folder. Name a file in DATABASE_URL.`;
  if (primary === 8 || primary === 14 || FILE_CODES.has(code)) {
    const reason = primary === null ? code : failure.message;
    return `The database ${file} cannot be made or written (${reason}). Give this user the right to, or name another place in DATABASE_URL.`;
  }
  return null;
}

const FILE_CODES = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOTDIR',
  'ENOENT',
  'EEXIST',
  'ELOOP',
  'ENAMETOOLONG',
]);

/** PostgreSQL's for an unknown parameter, a bad value, one that this user may not set, and for options that it cannot read. */
const PARAMETER_CODES = new Set(['42704', '22023', '42501', '42601', '55P02']);

function explainPostgres(failure: Failure, url: string, setting: string): string | null {
  const code = typeof failure.code === 'string' ? failure.code : '';
  const where = `PostgreSQL at ${sayHosts(url)}`;
  if (failure.syscall === 'open')
    return `${String(failure.path)}, which ${setting} names, cannot be read (${code}). Put it there, or mend ${setting}.`;
  // PgBouncer has one code (08P01) for every refusal.
  const parameter = /unsupported startup parameter: (\S+)/.exec(failure.message)?.[1];
  if (parameter !== undefined)
    return `${where} is reached through a pooler that refuses a parameter of ${setting} (${parameter}). Take it out, or let PgBouncer ignore it (ignore_startup_parameters).`;
  if (code.startsWith('28') || /(SASL|password) authentication failed/.test(failure.message))
    return `${where} refused the login. Check user and password in ${setting}.`;
  if (code === '3D000' || /database ".+" does not exist|no such database/.test(failure.message))
    return `${where} has no database of that name. Make it, or name another one in ${setting}.`;
  if (code === '3F000')
    return `${where} has no schema in which this user could make tables. Make the one that search_path names, or take search_path out of ${setting}.`;
  if (failure.severity === 'FATAL' && PARAMETER_CODES.has(code))
    return `${where} refuses a parameter of ${setting} (${failure.message}). Mend it, or take it out.`;
  if (code === '42501')
    return `${where} does not let this user make tables. Make the user the owner of the database.`;
  if (code === '53300')
    return `${where} has no connection left. Raise max_connections, or end other clients.`;
  if (code === '53100') return `${where} has no room on its disk. Make some there, and try again.`;
  if (code.startsWith('57P')) return `${where} is starting or stopping. Try again in a moment.`;
  if (code === '57014')
    return `${where} took too long and was interrupted. Look what else it is busy with, and try again.`;
  if (code === '55P03')
    return `${where} is held up by another program that has locked a table. Find it in pg_stat_activity, and start again.`;
  if (code === '25006') return `${where} takes no writes. Name the primary server in ${setting}.`;
  if (failure.message.includes('does not support SSL')) {
    return `${where} offers no TLS. Turn it on there, or, on a network of your own, set sslmode=disable in ${setting}.`;
  }
  if (code.startsWith('ERR_TLS') || /CERT|SELF_SIGNED|LEAF_SIGNATURE/.test(code)) {
    return `${where} shows a certificate that cannot be trusted (${code}). Name its authority with sslrootcert=FILE in ${setting}, or take any with sslmode=no-verify.`;
  }
  if (/connection terminated unexpectedly/i.test(failure.message))
    return `${where} has ended the connection. Its log says why; try again.`;
  // Node's own codes (ERR_INVALID_ARG_TYPE) are faults of ours.
  if (/^E(?!RR_(?!SSL_|SOCKET_))[A-Z_]+$/.test(code) || /timeout|terminated/i.test(failure.message)) {
    return `${where} cannot be reached (${code || 'timeout'}). Start it, or mend ${setting}.`;
  }
  return null;
}

/**
 * Explains why a file of ours could not be read or made.
 * @param advice what to do instead, as a sentence
 */
export function explainFileFailure(error: unknown, file: string, advice: string): string | null {
  const failure: Failure | null = firstOf(error);
  if (typeof failure?.code !== 'string' || failure.syscall === undefined) return null;
  return `${file} cannot be read or made (${failure.code}). ${advice}`;
}

const ASK_WITHIN_MS = 1_000;

/**
 * Checks that the page's ports can be listened on, before anything else is touched. The desk waits for its own (desk/serve.ts).
 * @returns one sentence for each port that cannot
 */
export async function portComplaints(
  { port, host, metrics }: Pick<Config, 'port' | 'host' | 'metrics'>,
  {
    only,
    mayRun = false,
    socket = null,
  }: {
    /** Checks this port alone. */
    readonly only?: unknown;
    /** This page may already run there. */
    readonly mayRun?: boolean;
    /** Takes the place of PORT. */
    readonly socket?: object | null;
  } = {},
): Promise<string[]> {
  const complaints: string[] = [];
  const look = async (place: ListenAddress, names: Names) => {
    if (only !== undefined && place.port !== only) return;
    const complaint = await portComplaint(place, names, mayRun);
    if (complaint !== null) complaints.push(complaint);
  };
  if (socket === null) await look({ port, host }, { port: 'PORT', host: 'HOST' });
  if (metrics) await look(metrics, { port: 'METRICS_PORT', host: 'METRICS_HOST' });
  return complaints;
}

type ListenAddress = { readonly port: number; readonly host: string };
/** Names of the settings for such an address. */
type Names = { readonly port: string; readonly host: string };

async function portComplaint(
  { port, host }: ListenAddress,
  names: Names,
  mayRun: boolean,
): Promise<string | null> {
  const probe = createServer();
  const error = await new Promise<Failure | null>((resolve) => {
    probe.once('error', resolve);
    // Not through a primary, which would open the port for good.
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(null)));
  });
  if (error === null || (mayRun && error.code === 'EADDRINUSE' && (await isThisPage(host, port))))
    return null;
  return explainListenFailure(error, { port, host }, names);
}

async function explainListenFailure(
  failure: Failure,
  { port, host }: ListenAddress,
  names: Names,
): Promise<string> {
  const code = String(failure.code);
  if (code === 'EADDRINUSE') {
    return (await isThisPage(host, port))
      ? `This page is running already on port ${port}. Stop it first (Ctrl-C where it was started), or set ${names.port} to another number.`
      : `Port ${port} is taken by another program. Stop that one, or set ${names.port} to another number.`;
  }
  if (code === 'EACCES')
    return `This user may not listen on port ${port}. Set ${names.port} to 1024 or more.`;
  return `${names.host} must be an address of this machine (${code}), such as 127.0.0.1, or 0.0.0.0 for all of them.`;
}

/** Whether the program that listens there is this server. */
async function isThisPage(host: string, port: number): Promise<boolean> {
  try {
    return (await askHealth({ host, port }, AbortSignal.timeout(ASK_WITHIN_MS))) !== null;
  } catch {
    return false;
  }
}

/** Every answer of ours has the id of its request, a UUID; in older versions one of version 7. */
const REQUEST_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-/;

/**
 * Asks the program that listens on a port of this machine for its health. Not with fetch, which refuses some ports that the metrics may
 * have (4190).
 * @param signal ends it
 * @returns the answer; null when another program gave it. Throws when there is none
 */
export async function askHealth(
  { host, port }: ListenAddress,
  signal: AbortSignal,
): Promise<{ readonly isWell: boolean; readonly sentence: string } | null> {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const request = get({ host: reachable, port, path: API.health, agent: false, signal });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (REQUEST_ID.test(String(response.headers['x-request-id'])))
    return { isWell: response.statusCode === 200, sentence: await text(response) };
  response.destroy();
  return null;
}

/** What to write on standard error when the server cannot start: one line for each sentence. */
export const sayRefusal = (complaints: readonly string[]): string =>
  `The server cannot start:\n${complaints.map((complaint) => `  - ${complaint}\n`).join('')}`;
