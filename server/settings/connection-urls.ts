import path from 'node:path';

import type { DatabaseAddress } from '#server/platform/database-url.ts';
import { isLoopback } from '#server/platform/ip-addresses.ts';
import { unlessWrong, type Environment, type ReadSetting } from '#server/settings/setting-values.ts';
import { orNull } from '#shared/or-null.ts';

export const isPostgres = (url: string): boolean => /^postgres(ql)?:/.test(url);

export const databaseUrl: ReadSetting<DatabaseAddress> = (text, env) => {
  if (text.startsWith('file:')) {
    const file = text.replace(/^file:(\/\/(?=\/))?/, '');
    // A host is refused, because file://data/leads.db would mean /data/leads.db, and so is a folder.
    const isInvalid = file.startsWith('//') || /(?:^|\/)\.{0,2}$/.test(file);
    return unlessWrong({ engine: 'sqlite', file }, isInvalid ? [INVALID_DATABASE_URL] : []);
  }
  const mistakes = isPostgres(text) ? postgresMistakes(text, env) : [INVALID_DATABASE_URL];
  return unlessWrong({ engine: 'postgres', url: text }, mistakes);
};

const INVALID_DATABASE_URL = 'must be a URL such as file:./data/leads.db or postgres://user@host/name';

function postgresMistakes(url: string, env: Environment): string[] {
  const login = loginMistake(url);
  if (login !== null) return [login];
  if (!URL.canParse(url)) return [INVALID_DATABASE_URL];
  const choosesTls =
    Boolean(env['PGSSLMODE']) || [...parametersOf(url).keys()].some((key) => key.startsWith('ssl'));
  return sendsPassword(url, env) && !choosesTls
    ? [
        'sends a password to another machine, so it must specify the encryption. Add ?sslmode=verify-full (TLS with certificate check), ?sslmode=no-verify (TLS with any certificate) or ?sslmode=disable (no encryption, only in your own network)',
      ]
    : [];
}

const parametersOf = (url: string): URLSearchParams => URL.parse(url)?.searchParams ?? new URLSearchParams();

/** Returns true if a password is sent to PostgreSQL on another machine. */
function sendsPassword(url: string, env: Environment): boolean {
  const { hostname, password, searchParams } = new URL(url);
  const host = searchParams.get('host') ?? (decodeURIComponent(hostname) || (env['PGHOST'] ?? ''));
  const sentPassword = password || searchParams.get('password') || env['PGPASSWORD'];
  // A host that begins with a slash is a local socket.
  return Boolean(sentPassword) && !host.startsWith('/') && !isLoopback(host);
}

export function databaseWarnings(name: string, database: DatabaseAddress): string[] {
  if (database.engine === 'sqlite') return [];
  const { url } = database;
  const warnings = bareAtWarnings(name, url);
  if (sendsPassword(url, {}) && parametersOf(url).get('sslmode') === 'disable')
    warnings.push(
      `${name} has sslmode=disable, so all data is sent to PostgreSQL without encryption. Set sslmode=verify-full unless the network is private.`,
    );
  return warnings;
}

export function resolveDatabase(database: DatabaseAddress, folder: string): DatabaseAddress {
  if (database.engine === 'sqlite')
    return database.file === ':memory:'
      ? database
      : { ...database, file: path.resolve(folder, database.file) };
  const files = ['sslrootcert', 'sslcert', 'sslkey'].filter((name) => parametersOf(database.url).has(name));
  if (files.length === 0) return database;
  const [baseUrl = '', query = ''] = database.url.split('?', 2);
  const parameters = new URLSearchParams(query);
  for (const name of files)
    // libpq's name for the system's certificate authorities, which are trusted anyway.
    if (name === 'sslrootcert' && parameters.get(name) === 'system') parameters.delete(name);
    else parameters.set(name, path.resolve(folder, parameters.get(name) ?? ''));
  if (parameters.size === 0) return { ...database, url: baseUrl };
  // libpq does not read "+" as a space.
  return { ...database, url: `${baseUrl}?${String(parameters).replaceAll('+', '%20')}` };
}

/** Characters that must be encoded in a user or password (RFC 3986, section 2.1). */
const PERCENT_ENCODED = { '#': '%23', '/': '%2F', '?': '%3F' } as const;

/**
 * Finds a password that ends the login early.
 * @returns a phrase that follows the name of the setting, or null
 */
function loginMistake(url: string): string | null {
  const [, rest] = /^[a-z][a-z0-9+.-]*:\/\/(.*)$/i.exec(url) ?? [];
  const end = rest?.lastIndexOf('@') ?? -1;
  if (rest === undefined || end < 0) return null;
  const ending = /[#/?]/.exec(rest.slice(0, end));
  // An "@" in a parameter, as in "?user=me@example.com", is harmless.
  if (ending === null || /^([^#/?]*@)?[^@#/?]*(\/[^@#?]*)?\?[^@#?]*=/.test(rest)) return null;
  const found = ending[0] as keyof typeof PERCENT_ENCODED;
  return `contains a "${found}" in the user or password. Write ${PERCENT_ENCODED[found]} instead (and "@" as %40, "/" as %2F, "?" as %3F, "#" as %23)`;
}

/** Warns of an unencoded "@", which is interpreted as intended, because no host can contain one. */
function bareAtWarnings(name: string, url: string): string[] {
  const { username, password } = new URL(url);
  if (!/%40/.test(username + password) || !/^[^/]*\/\/[^/?#]*@[^/?#]*@/.test(url)) return [];
  return [
    `${name} contains an "@" in the user or password. Write %40 instead, so that the URL cannot be misread.`,
  ];
}

export const smtpUrl: ReadSetting<string> = (text) => {
  const login = loginMistake(text);
  if (login !== null) return { mistakes: [login] };
  const url = URL.parse(text);
  // nodemailer would also accept a login and a host without "//", but needsTls would not recognise the login.
  if (url === null || url.hostname === '' || !['smtp:', 'smtps:'].includes(url.protocol))
    return { mistakes: ['must be a URL such as smtps://user:password@mail.example.com'] };
  return orNull(() => decodeURIComponent(url.username + url.password)) === null
    ? { mistakes: ['contains a "%" in the user or password. Write %25 instead'] }
    : { value: text };
};

/**
 * Returns true if a login is sent to another machine and the URL does not permit clear text.
 * @param url as nodemailer reads it
 */
export function needsTls(url: string): boolean {
  return sendsLogin(url) && !allowsClearText(url);
}

function sendsLogin(url: string): boolean {
  const { protocol, username, hostname } = new URL(url);
  return protocol === 'smtp:' && username !== '' && !isLoopback(hostname);
}

function allowsClearText(url: string): boolean {
  const { searchParams } = new URL(url);
  if (searchParams.get('requireTLS') === 'true') return false;
  return (
    // nodemailer reads 0, and an empty value, as false.
    ['false', '0', ''].includes(searchParams.get('requireTLS') ?? 'true') ||
    searchParams.get('ignoreTLS') === 'true' ||
    searchParams.get('opportunisticTLS') === 'true'
  );
}

export function smtpWarnings(url: string): string[] {
  const { searchParams, hostname } = new URL(url);
  const warnings = bareAtWarnings('SMTP_URL', url);
  if (sendsLogin(url) && allowsClearText(url))
    warnings.push(
      'SMTP_URL allows user and password to be sent to the mail server without encryption. Remove the parameters that allow this to require TLS.',
    );
  if (searchParams.get('tls.rejectUnauthorized') === 'false' && !isLoopback(hostname))
    warnings.push(
      'SMTP_URL turns off the check of the mail server’s certificate, so anyone in between could read user and password. Remove tls.rejectUnauthorized=false once the certificate is valid.',
    );
  return warnings;
}
