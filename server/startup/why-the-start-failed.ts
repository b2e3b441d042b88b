// Explains why a start failed. Errors not listed here indicate a bug.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';

import type { Config } from '#server/settings/settings.ts';
import { databaseFiles } from '#server/db/backup/backup.ts';
import { isFromNewerVersion } from '#server/db/migrations/migrate.ts';
import { explainSystemFailure, firstOf } from '#server/platform/system-errors.ts';
import { describeHost } from '#server/platform/database-url.ts';
import { API } from '#shared/api.ts';

type Failure = Error & {
  readonly code?: unknown;
  readonly errcode?: unknown;
  readonly syscall?: unknown;
  readonly severity?: unknown;
};

/**
 * A pattern for code and message ("28P01 password authentication failed"), and a sentence. The first match is used. {where} is
 * replaced by the database, {setting} by its setting, {code} by the error's code, {reason} by details, and {1} by the pattern's
 * group.
 */
type Causes = readonly (readonly [pattern: RegExp, sentence: string])[];

/** SQLite's primary result codes (the low eight bits), or system error codes. */
const SQLITE: Causes = [
  [
    /^(?:26|11) /,
    '{where} is not a SQLite database, or is damaged. Restore it from a backup, or name another file in {setting}.',
  ],
  [
    /^[56] /,
    '{where} is locked by another program, or is on a disk without locks, such as some network shares. Stop that program, or name a file on a disk of this machine in {setting}.',
  ],
  // SQLITE_IOERR_SHMOPEN, _SHMSIZE, _SHMLOCK and _SHMMAP.
  [
    /^10 \((?:4618|4874|5130|5386)\)/,
    '{where} is on a disk without shared memory (mmap), such as some network shares. Name a file on a disk of this machine in {setting}.',
  ],
  [/^(?:13|ENOSPC) /, 'The disk of {where} is full. Free some space, and try again.'],
  [/^(?:EFTYPE|EISDIR) /, '{where} is not a regular file. Name a file in {setting}.'],
  [
    /^(?:8|10|14|EACCES|EPERM|EROFS|ENOTDIR|ENOENT|EEXIST|ELOOP|ENAMETOOLONG) /,
    'The database {where} cannot be created or written ({reason}). Grant this user permission, or choose another place in {setting}.',
  ],
];

const POSTGRES: Causes = [
  [
    /, open '([^']*)'/,
    '{setting} names the file {1}, which cannot be read ({code}). Put the file there, or correct {setting}.',
  ],
  [
    /unsupported startup parameter: statement_timeout/,
    '{where} is reached through a pooler. Add ?prepare=false to {setting}.',
  ],
  [
    /^28|(?:SASL|password) authentication failed/,
    '{where} refused the login. Check user and password in {setting}.',
  ],
  [
    /^3D000|database ".+" does not exist|no such database/,
    '{where} has no database with that name. Create the database, or name another in {setting}.',
  ],
  [/^25006/, '{where} is read-only. Name the primary server in {setting}.'],
  [
    /does not support SSL/,
    '{where} does not offer TLS. Turn on TLS there or, on a private network, set sslmode=disable in {setting}.',
  ],
  [
    /^(?:ERR_TLS|\w*(?:CERT|SELF_SIGNED|LEAF_SIGNATURE))/,
    '{where} has an untrusted certificate ({code}). Name its authority with sslrootcert=FILE in {setting}, or accept any certificate with sslmode=no-verify.',
  ],
  // Permissions, parameters, resources and a server shutdown. Other classes indicate a bug.
  [
    /^(?:08|3F|53|55P|57|42501|\w{5} FATAL )/,
    '{where} refused to work ({reason}). Correct this there or in {setting}, and try again.',
  ],
  // Node's own codes (ERR_INVALID_ARG_TYPE) indicate a bug.
  [
    /^E(?!RR_(?!SSL_|SOCKET_))[A-Z_]+ |timeout|terminated/i,
    '{where} cannot be reached ({code}). Start PostgreSQL, or correct {setting}.',
  ],
];

/**
 * Explains an error that ended a command.
 * @returns one sentence, or null if the error indicates a bug
 */
export function explainFailure(error: unknown, database: Config['database'] | null): string | null {
  const sentence = explainSystemFailure(error);
  if (sentence !== null || database === null) return sentence;
  const failure: Failure | null = firstOf(error);
  if (failure === null || 'path' in failure) return null;
  const isSqlite = typeof failure.errcode === 'number';
  return isSqlite === (database.engine === 'sqlite') ? explainDatabaseFailure(error, database) : null;
}

export function explainDatabaseFailure(
  error: unknown,
  database: Config['database'],
  setting = 'DATABASE_URL',
): string | null {
  const failure: Failure | null = firstOf(error);
  if (failure === null) return null;
  if (isFromNewerVersion(failure)) {
    return `The database was used by another version of this software. Start that version, or name another database in ${setting}.`;
  }
  const code = typeof failure.code === 'string' ? failure.code : '';
  if (database.engine === 'sqlite') {
    const { errcode, message } = failure;
    const [known, reason] =
      typeof errcode === 'number' ? [`${errcode & 0xff} (${errcode})`, message] : [code, code];
    return describeCause(SQLITE, `${known} ${message}`, { where: database.file, setting, code, reason });
  }
  const severity = failure.severity === 'FATAL' ? 'FATAL ' : '';
  const where = `PostgreSQL at ${describeHost(database.url)}`;
  const values = { where, setting, code: code || 'timeout', reason: failure.message };
  return describeCause(POSTGRES, `${code} ${severity}${failure.message}`, values);
}

function describeCause(
  causes: Causes,
  failure: string,
  values: Readonly<Record<string, string>>,
): string | null {
  for (const [pattern, sentence] of causes) {
    const found = pattern.exec(failure);
    if (found) return sentence.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? found[1] ?? '');
  }
  return null;
}

/** @returns a sentence if other files show that a site has used the missing file, and may still have it open */
export function describeLostDatabase(file: string): string | null {
  const traces = [path.join(path.dirname(file), 'app-secret'), ...databaseFiles(file)];
  const found = traces.find((trace) => existsSync(trace));
  return found === undefined
    ? null
    : `There is no database at ${file}, but ${found} exists. If the site is running, do not restart it yet: see "What do I do when something breaks?" in docs/running.md. If it has stopped, restore a backup, or correct DATABASE_URL.`;
}

export function explainFileFailure(error: unknown, file: string, advice: string): string | null {
  const failure: Failure | null = firstOf(error);
  if (typeof failure?.code !== 'string' || failure.syscall === undefined) return null;
  return `${file} cannot be read or created (${failure.code}). ${advice}`;
}

/** An error whose message is a sentence for the operator. openService catches it. */
export class CannotOpen extends Error {}

export async function orRefuse<Result>(
  step: () => Result | Promise<Result>,
  explain: (error: unknown) => string | null,
): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    const sentence = explain(error);
    throw sentence === null ? error : new CannotOpen(sentence);
  }
}

/** A busy server responds after a second or two. */
const HEALTH_TIMEOUT_MS = 5_000;

type ListenAddress = { readonly port: number; readonly host: string };

/**
 * Checks that the page's ports are free; the desk waits for its port itself (desk/serve.ts).
 * @param options only: the only port to check. socket: used instead of PORT
 */
export async function portMistakes(
  { port, host, metrics }: Pick<Config, 'port' | 'host' | 'metrics'>,
  { only, socket = null }: { readonly only?: unknown; readonly socket?: object | null } = {},
): Promise<string[]> {
  const addresses = [
    ...(socket === null ? [{ port, host, prefix: '' }] : []),
    ...(metrics ? [{ ...metrics, prefix: 'METRICS_' }] : []),
  ];
  const mistakes: string[] = [];
  for (const address of addresses) {
    if (only !== undefined && address.port !== only) continue;
    const code = await listenError(address);
    if (code !== null) mistakes.push(await explainListenError(code, address));
  }
  return mistakes;
}

function listenError({ port, host }: ListenAddress): Promise<string | null> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', (error: Failure) => resolve(String(error.code)));
    probe.listen({ port, host }, () => probe.close(() => resolve(null)));
  });
}

async function explainListenError(
  code: string,
  { port, host, prefix }: ListenAddress & { readonly prefix: string },
): Promise<string> {
  if (code === 'EADDRINUSE') {
    return (await isThisSite({ host, port }))
      ? `This site is already running on port ${port}. Stop it first (with Ctrl-C where it was started), or set ${prefix}PORT to another number.`
      : `Port ${port} is used by another program. Stop that program, or set ${prefix}PORT to another number.`;
  }
  if (code === 'EACCES')
    return `This user may not listen on port ${port}. Set ${prefix}PORT to 1024 or more.`;
  return `${prefix}HOST must be an IP address of this machine (${code}), such as 127.0.0.1, or 0.0.0.0 for all its addresses.`;
}

async function isThisSite(address: ListenAddress): Promise<boolean> {
  try {
    return (await askHealth(address, AbortSignal.timeout(HEALTH_TIMEOUT_MS))) !== null;
  } catch {
    return false;
  }
}

/** A request ID, which our responses carry, is a UUID; version 7 in older releases. */
const REQUEST_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-/;

/**
 * Requests health without fetch, because fetch refuses some ports that the metrics may use (4190).
 * @returns null if another program responded
 * @throws if nothing responded
 */
export async function askHealth(
  { host, port }: ListenAddress,
  signal: AbortSignal,
): Promise<{ readonly isHealthy: boolean; readonly sentence: string } | null> {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const request = get({ host: reachable, port, path: API.health, agent: false, signal });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (REQUEST_ID.test(String(response.headers['x-request-id'])))
    return { isHealthy: response.statusCode === 200, sentence: await text(response) };
  response.destroy();
  return null;
}

export const describeRefusal = (mistakes: readonly string[]): string =>
  `The server cannot start:\n${mistakes.map((mistake) => `  - ${mistake}\n`).join('')}`;
