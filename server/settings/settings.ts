// Every setting, read once from the environment by a pure function (env-file.ts hands it the environment). `.env.example` lists the same names; a test keeps the two equal.
import { createPublicKey } from 'node:crypto';
import { isIP } from 'node:net';
import path from 'node:path';

import * as z from 'zod/mini';

import { addressRefusal } from '#server/platform/public-addresses.ts';
import type { DatabaseAddress } from '#server/platform/database-url.ts';
import { asksForReading, hostUrls, parametersOf, withParameters } from '#server/platform/postgres-hosts.ts';
import { HOUR_MS } from '#server/platform/time.ts';
import {
  BLOCKED_PORTS,
  hasBareAt,
  isLoopback,
  loginSlip,
  shareAddress,
} from '#server/settings/addresses-in-settings.ts';
import {
  ASKS_FROM_NETWORK,
  BREAKER,
  CODE_LIFE_SECONDS,
  QUIET,
  SENDS_TO_ADDRESS,
  TRIES,
  TRIES_FROM_NETWORK,
} from '#server/settings/tries-and-rates.ts';

export type DkimConfig = {
  readonly domainName: string;
  readonly keySelector: string;
  readonly privateKeyFile: string;
};

type MailConfig =
  | { readonly kind: 'files' }
  | { readonly kind: 'smtp'; readonly url: string; readonly dkim: DkimConfig | null };

export type Config = {
  readonly port: number;
  readonly host: string;
  /** Origin of the public page, without a slash at its end. */
  readonly publicUrl: string;
  /** Whether PUBLIC_URL is https: turns on HSTS, Secure and `__Host-` cookies. */
  readonly secure: boolean;
  readonly database: DatabaseAddress;
  readonly mail: MailConfig;
  /** Null: the product title at the host of PUBLIC_URL, which real mail servers will distrust. */
  readonly mailFrom: string | null;
  /** Each mail has a return path of its own there; null: it is the address of MAIL_FROM. */
  readonly bounceDomain: string | null;
  /** Whose events about our mail are taken, and by what they are known; null: nobody's. */
  readonly mailEvents: {
    /** The ARN of a topic of Amazon SNS, to which Amazon SES publishes. */
    readonly sesTopic: string | null;
    /** `user:password`: Postmark signs nothing. */
    readonly postmarkLogin: string | null;
    readonly mailgunKey: string | null;
    /** A public key on P-256: the base64 of its DER. */
    readonly sendgridKey: string | null;
  };
  /** Newest first. Empty: the server makes one and keeps it in the data folder (SQLite only). */
  readonly appSecrets: readonly string[];
  /** Whose X-Forwarded-For counts: nobody's, that of so many hops, or that of these networks. */
  readonly trustProxy: false | number | readonly string[];
  readonly logLevel: string;
  /** Each limit: 0 lifts it. */
  readonly limits: {
    readonly leadsPerIpPerHour: number;
    readonly leadsPerEmailPerHour: number;
    readonly verifyPerIpPerHour: number;
    readonly codeAttempts: number;
  };
  readonly codeTtlSeconds: number;
  readonly resendSeconds: number;
  /** When new codes must be paid for with a proof of work; 0 lifts a ceiling. */
  readonly breaker: {
    readonly codesPerMinute: number;
    readonly unenteredPercent: number;
  };
  /** How long is kept what need not stay (server/upkeep/housekeeping.ts); 0: for ever. */
  readonly retention: {
    /** Forms that nobody verified, challenges and codes. */
    readonly unverifiedDays: number;
    /** Mail that was sent, or came to nothing. */
    readonly mailDays: number;
  };
  /** Whether views of the page, the form and the article are counted. */
  readonly funnelCounting: boolean;
  /** Told when the breaker opens, and of new leads; null: nobody. */
  readonly operatorEmail: string | null;
  /** What is mailed once a code was entered: nothing, a link to the guide, or the guide as a file. */
  readonly guideEmail: 'off' | 'link' | 'attachment';
  /** When the operator is told of new leads: never, of each at once, or of those of a day on the next one ... */
  readonly newLeadEmail: 'off' | 'each' | 'daily';
  /** ... so many milliseconds after it began, in UTC. */
  readonly newLeadEmailAtMs: number;
  readonly freeMail: DomainPolicy;
  readonly disposableMail: DomainPolicy;
  /** Who is told about leads. */
  readonly webhooks: {
    /** None: nobody is. */
    readonly urls: readonly string[];
    /** Newest first. Empty: made from APP_SECRET. */
    readonly secrets: readonly string[];
    readonly allowPrivate: boolean;
  };
  /** Where Prometheus metrics are served; null: nowhere. */
  readonly metrics: { readonly port: number; readonly host: string } | null;
};

/** What to do about an address at certain domains: nothing, mark the lead, or refuse it. */
type DomainPolicy = 'off' | 'flag' | 'block';

export type ConfigResult =
  | {
      readonly type: 'config';
      readonly config: Config;
      /** What the operator decided and should know: one sentence each, to be said at start. */
      readonly warnings: readonly string[];
    }
  | { readonly type: 'complaints'; readonly complaints: readonly string[] };

const SECRET_MIN_LENGTH = 32;

/** A text that becomes something else, which has to be as `isRight` says. */
const textTo = <Value>(
  change: (text: string) => Value,
  isRight: (value: Value) => boolean,
  complaint: string,
) => z.pipe(z.string(), z.transform(change)).check(z.refine(isRight, complaint));

const wholeNumber = (fallback: number, { min = 0, max }: { min?: number; max: number }) =>
  z._default(
    textTo(
      (text) => (/^\d+$/.test(text) ? Number(text) : NaN),
      (value) => value >= min && value <= max,
      `must be a whole number from ${min} to ${max}`,
    ),
    fallback,
  );

/** The breaker compares with the eight days before, and a day's limits reach back for one more. */
const RETENTION_MIN_DAYS = 9;
const RETENTION_DAYS = 30;

const retentionDays = textTo(
  (text) => (/^\d{1,5}$/.test(text) ? Number(text) : -1),
  (days) => days === 0 || days >= RETENTION_MIN_DAYS,
  `must be a whole number of days from ${RETENTION_MIN_DAYS}, or 0 for ever: limits and the breaker look back so far`,
);

const url = (protocols: readonly string[], example: string) =>
  z.string().check(
    z.refine((text) => {
      return hostUrls(text).every((one) => protocols.includes(URL.parse(one)?.protocol ?? ''));
    }, `must be an address such as ${example}`),
  );

const trustProxy = z._default(
  z.pipe(
    textTo(
      (text) => (text === 'off' ? '0' : text),
      (text) => /^\d{1,2}$/.test(text) || text.split(',').every((part) => isNetwork(part.trim())),
      'must be a number of proxies (1), or a list of networks (10.0.0.0/8, 2001:db8::/32), or off',
    ),
    z.transform((text): Config['trustProxy'] => {
      if (/^\d+$/.test(text)) return Number(text) === 0 ? false : Number(text);
      return text.split(',').map((part) => part.trim());
    }),
  ),
  false,
);

function isNetwork(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  const [address = '', prefix, ...rest] = text.split('/');
  const family = z.ipv4().safeParse(address).success ? 4 : z.ipv6().safeParse(address).success ? 6 : 0;
  if (family === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

/** With the local part of a return path, no longer than an address may be. */
const BOUNCE_DOMAIN_MAX_LENGTH = 190;
const BOUNCE_DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/i;

const PASSWORD_MIN_LENGTH = 16;

function isKeyOnP256(text: string): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
  } catch {
    return false;
  }
}

const domainPolicy = z._default(z.enum(['off', 'flag', 'block'], 'must be off, flag or block'), 'off');

/** Several in one setting. */
const listOf = (isRight: (part: string) => boolean, complaint: string) =>
  textTo(listIn, (parts) => parts.every(isRight), complaint);

const listIn = (text: string): string[] => text.split(/[\s,]+/).filter((part) => part !== '');

/** Names are judged when they are called. */
function isRefusedNumber({ hostname }: URL, allowPrivate: boolean): boolean {
  const number = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(number) !== 0 && addressRefusal(number, { allowPrivate, allowPublic: true }) !== null;
}

/** As Standard Webhooks asks for. */
const WEBHOOK_SECRET_BYTES = { least: 24, most: 64 } as const;

function isWebhookSecret(text: string): boolean {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  if (base64 === undefined || base64.length % 4 !== 0) return false;
  const { length } = Buffer.from(base64, 'base64');
  return length >= WEBHOOK_SECRET_BYTES.least && length <= WEBHOOK_SECRET_BYTES.most;
}

const DEFAULT_PORT = 3000;
const DEFAULT_HOST = '127.0.0.1';

const Environment = z.object({
  // Read where settings come from (server/settings/env-file.ts), before there are settings.
  INSTANCE_FOLDER: z.optional(z.string()),
  CAMPAIGN_FOLDER: z.optional(z.string()),
  PORT: wholeNumber(DEFAULT_PORT, { min: 0, max: 65_535 }),
  HOST: z._default(z.string(), DEFAULT_HOST),
  PUBLIC_URL: z.optional(url(['http:', 'https:'], 'https://guide.example.com')),
  DATABASE_URL: z._default(
    url(['file:', 'postgres:', 'postgresql:'], 'file:./data/leads.db or postgres://user@host/name'),
    'file:./data/leads.db',
  ),
  SMTP_URL: z.optional(url(['smtp:', 'smtps:'], 'smtps://user:password@mail.example.com')),
  MAIL_FROM: z.optional(
    z
      .string()
      .check(
        z.regex(
          /^[^\r\n<>]*<[^\s<>@]+@[^\s<>@]+>$|^[^\s<>@]+@[^\s<>@]+$/,
          'must be an address such as Guide <guide@example.com>',
        ),
      ),
  ),
  BOUNCE_DOMAIN: z.optional(
    textTo(
      (text) => text.toLowerCase(),
      (text) => BOUNCE_DOMAIN.test(text) && text.length <= BOUNCE_DOMAIN_MAX_LENGTH,
      'must be a domain alone, such as bounces.example.com',
    ),
  ),
  MAIL_EVENTS_SES_TOPIC: z.optional(
    z
      .string()
      .check(
        z.regex(
          /^arn:aws(?:-cn|-us-gov)?:sns:[a-z]{2,4}(?:-[a-z]+)+-\d:\d{12}:[\w-]{1,256}$/,
          'must be the ARN of a standard topic, such as arn:aws:sns:eu-west-1:123456789012:guide-mail',
        ),
      ),
  ),
  MAIL_EVENTS_POSTMARK_LOGIN: z.optional(
    z
      .string()
      .check(
        z.regex(
          new RegExp(`^[^:\\s]+:[^\\s]{${PASSWORD_MIN_LENGTH},}$`),
          `must be a user and a password of ${PASSWORD_MIN_LENGTH} characters or more, such as postmark:… (openssl rand -hex 16)`,
        ),
      ),
  ),
  MAIL_EVENTS_MAILGUN_KEY: z.optional(
    z
      .string()
      .check(
        z.minLength(
          PASSWORD_MIN_LENGTH,
          'must be the HTTP webhook signing key that Mailgun shows under API security',
        ),
      ),
  ),
  MAIL_EVENTS_SENDGRID_KEY: z.optional(
    z
      .string()
      .check(
        z.refine(
          isKeyOnP256,
          'must be the verification key that SendGrid shows for the signed event webhook',
        ),
      ),
  ),
  DKIM_DOMAIN: z.optional(z.string()),
  DKIM_SELECTOR: z.optional(z.string()),
  DKIM_PRIVATE_KEY_FILE: z.optional(z.string()),
  APP_SECRET: z.optional(
    textTo(
      (text) => text.split(',').map((secret) => secret.trim()),
      (secrets) => secrets.every((secret) => secret.length >= SECRET_MIN_LENGTH),
      `must be at least ${SECRET_MIN_LENGTH} random characters (several, newest first, are separated by commas)`,
    ),
  ),
  TRUST_PROXY: trustProxy,
  LOG_LEVEL: z._default(
    z.enum(
      ['fatal', 'error', 'warn', 'info', 'debug', 'silent'],
      'must be info, warn, error, debug, fatal or silent',
    ),
    'info',
  ),
  LEADS_PER_IP_PER_HOUR: wholeNumber(ASKS_FROM_NETWORK.most, { max: 1_000_000 }),
  LEADS_PER_EMAIL_PER_HOUR: wholeNumber(SENDS_TO_ADDRESS.most, { max: 1_000_000 }),
  VERIFY_PER_IP_PER_HOUR: wholeNumber(TRIES_FROM_NETWORK.most, { max: 1_000_000 }),
  CODE_ATTEMPTS: wholeNumber(TRIES.most, { max: 1_000 }),
  CODE_TTL_SECONDS: wholeNumber(CODE_LIFE_SECONDS, { min: 1, max: 86_400 }),
  RESEND_SECONDS: wholeNumber(QUIET.seconds, { max: 3_600 }),
  BREAKER_CODES_PER_MINUTE: wholeNumber(BREAKER.codesPerMinute, { max: 1_000_000 }),
  BREAKER_UNENTERED_PERCENT: wholeNumber(BREAKER.unenteredPercent, { max: 100 }),
  RETENTION_DAYS: z._default(retentionDays, RETENTION_DAYS),
  MAIL_RETENTION_DAYS: z.optional(retentionDays),
  FUNNEL_COUNTING: z._default(z.enum(['on', 'off'], 'must be on or off'), 'on'),
  OPERATOR_EMAIL: z.optional(
    z.string().check(z.regex(/^[^\s<>@]+@[^\s<>@]+$/, 'must be an address such as you@example.com')),
  ),
  GUIDE_EMAIL: z._default(z.enum(['off', 'link', 'attachment'], 'must be off, link or attachment'), 'off'),
  NEW_LEAD_EMAIL: z._default(z.enum(['off', 'each', 'daily'], 'must be off, each or daily'), 'off'),
  NEW_LEAD_EMAIL_AT: z._default(
    textTo(
      (text) => {
        const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
        return hours === undefined ? NaN : (Number(hours) * 60 + Number(minutes)) * 60_000;
      },
      (ms) => !Number.isNaN(ms),
      'must be a time of day in UTC, such as 07:00',
    ),
    7 * HOUR_MS,
  ),
  FREE_MAIL: domainPolicy,
  DISPOSABLE_MAIL: domainPolicy,
  WEBHOOK_URLS: z._default(
    listOf(
      (text) => ['https:', 'http:'].includes(URL.parse(text)?.protocol ?? ''),
      'must be addresses such as https://hooks.example.com/leads, separated by spaces',
    ),
    [],
  ),
  WEBHOOK_SECRET: z._default(
    listOf(
      isWebhookSecret,
      `must be whsec_ and ${WEBHOOK_SECRET_BYTES.least} to ${WEBHOOK_SECRET_BYTES.most} random bytes in base64 (several, newest first, are separated by spaces)`,
    ),
    [],
  ),
  WEBHOOK_ALLOW_PRIVATE: z._default(z.enum(['yes', 'no'], 'must be yes or no'), 'no'),
  METRICS_PORT: wholeNumber(0, { max: 65_535 }),
  METRICS_HOST: z._default(z.string(), DEFAULT_HOST),
});

/** The names of all settings, as they stand in the environment. */
export const SETTING_NAMES: readonly string[] = Object.keys(Environment.shape);

/**
 * Reads the settings.
 * @param env the environment, such as `process.env`. Empty values count as unset
 * @returns the settings, or one sentence for each complaint, all at once
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): ConfigResult {
  const present = Object.fromEntries(
    SETTING_NAMES.flatMap((name) => {
      const value = env[name]?.trim();
      return value ? [[name, value]] : [];
    }),
  );
  const parsed = Environment.safeParse(present);
  const slips = loginComplaints(present);
  const complaints =
    parsed.error?.issues
      // An address that its password cuts in two is wrong for that reason alone.
      .filter(({ path: [name] }) => !slips.some((slip) => slip.startsWith(`${String(name)} `)))
      .map((issue) => `${issue.path.join('.')} ${issue.message}.`) ?? [];
  complaints.push(...slips, ...complaintsAcrossSettings(present, env));
  if (!parsed.success || complaints.length > 0) return { type: 'complaints', complaints };

  const settings = parsed.data;
  const publicUrl = new URL(settings.PUBLIC_URL ?? `http://localhost:${settings.PORT}`);
  return {
    type: 'config',
    warnings: [
      ...bareAtWarnings('SMTP_URL', settings.SMTP_URL ?? ''),
      ...smtpWarnings(settings.SMTP_URL),
      ...postgresWarnings('DATABASE_URL', settings.DATABASE_URL),
    ],
    config: {
      port: settings.PORT,
      // For this name Fastify opens two servers; what watches connections and what drains them watch one.
      host: settings.HOST === 'localhost' ? '127.0.0.1' : settings.HOST,
      publicUrl: publicUrl.origin,
      secure: publicUrl.protocol === 'https:',
      database: settings.DATABASE_URL.startsWith('file:')
        ? { engine: 'sqlite', file: settings.DATABASE_URL.replace(/^file:(\/\/(?=\/))?/, '') }
        : { engine: 'postgres', url: settings.DATABASE_URL },
      mail: settings.SMTP_URL
        ? { kind: 'smtp', url: settings.SMTP_URL, dkim: dkimOf(settings) }
        : { kind: 'files' },
      mailFrom: settings.MAIL_FROM ?? null,
      bounceDomain: settings.BOUNCE_DOMAIN ?? null,
      mailEvents: {
        sesTopic: settings.MAIL_EVENTS_SES_TOPIC ?? null,
        postmarkLogin: settings.MAIL_EVENTS_POSTMARK_LOGIN ?? null,
        mailgunKey: settings.MAIL_EVENTS_MAILGUN_KEY ?? null,
        sendgridKey: settings.MAIL_EVENTS_SENDGRID_KEY ?? null,
      },
      appSecrets: settings.APP_SECRET ?? [],
      trustProxy: settings.TRUST_PROXY,
      logLevel: settings.LOG_LEVEL,
      limits: {
        leadsPerIpPerHour: settings.LEADS_PER_IP_PER_HOUR,
        leadsPerEmailPerHour: settings.LEADS_PER_EMAIL_PER_HOUR,
        verifyPerIpPerHour: settings.VERIFY_PER_IP_PER_HOUR,
        codeAttempts: settings.CODE_ATTEMPTS,
      },
      codeTtlSeconds: settings.CODE_TTL_SECONDS,
      resendSeconds: settings.RESEND_SECONDS,
      breaker: {
        codesPerMinute: settings.BREAKER_CODES_PER_MINUTE,
        unenteredPercent: settings.BREAKER_UNENTERED_PERCENT,
      },
      retention: {
        unverifiedDays: settings.RETENTION_DAYS,
        mailDays: settings.MAIL_RETENTION_DAYS ?? settings.RETENTION_DAYS,
      },
      funnelCounting: settings.FUNNEL_COUNTING === 'on',
      operatorEmail: settings.OPERATOR_EMAIL ?? null,
      guideEmail: settings.GUIDE_EMAIL,
      newLeadEmail: settings.NEW_LEAD_EMAIL,
      newLeadEmailAtMs: settings.NEW_LEAD_EMAIL_AT,
      freeMail: settings.FREE_MAIL,
      disposableMail: settings.DISPOSABLE_MAIL,
      webhooks: {
        // One that stands there twice is told once.
        urls: [...new Set(settings.WEBHOOK_URLS.map((text) => new URL(text).href))],
        secrets: settings.WEBHOOK_SECRET,
        allowPrivate: settings.WEBHOOK_ALLOW_PRIVATE === 'yes',
      },
      metrics:
        settings.METRICS_PORT === 0 ? null : { port: settings.METRICS_PORT, host: settings.METRICS_HOST },
    },
  };
}

const DKIM_NAMES = ['DKIM_DOMAIN', 'DKIM_SELECTOR', 'DKIM_PRIVATE_KEY_FILE'] as const;

function dkimOf(settings: z.infer<typeof Environment>): DkimConfig | null {
  const { DKIM_DOMAIN, DKIM_SELECTOR, DKIM_PRIVATE_KEY_FILE } = settings;
  if (!DKIM_DOMAIN || !DKIM_SELECTOR || !DKIM_PRIVATE_KEY_FILE) return null;
  return { domainName: DKIM_DOMAIN, keySelector: DKIM_SELECTOR, privateKeyFile: DKIM_PRIVATE_KEY_FILE };
}

/**
 * The same settings with every file named in full.
 * @param folder where relative names start
 */
export function resolvePaths(config: Config, folder: string): Config {
  const { mail } = config;
  return {
    ...config,
    database: resolveDatabase(config.database, folder),
    mail:
      mail.kind === 'smtp' && mail.dkim
        ? {
            ...mail,
            dkim: { ...mail.dkim, privateKeyFile: path.resolve(folder, mail.dkim.privateKeyFile) },
          }
        : mail,
  };
}

function resolveDatabase(database: DatabaseAddress, folder: string): DatabaseAddress {
  if (database.engine === 'sqlite') {
    return database.file === ':memory:'
      ? database
      : { ...database, file: path.resolve(folder, database.file) };
  }
  const files = ['sslrootcert', 'sslcert', 'sslkey'];
  const resolved = withParameters(database.url, (parameters) => {
    for (const name of files)
      if (parameters.has(name)) parameters.set(name, path.resolve(folder, parameters.get(name) ?? ''));
  });
  return files.some((name) => parametersOf(resolved).has(name)) ? { ...database, url: resolved } : database;
}

/**
 * Whether a login would go to another machine by way of an address that does not say whether it may go in clear. Such a
 * connection needs TLS.
 * @param smtpUrl a value of SMTP_URL
 */
export function needsTls(smtpUrl: string): boolean {
  return sendsLogin(smtpUrl) && !allowsClearText(smtpUrl);
}

function sendsLogin(smtpUrl: string): boolean {
  const { protocol, username, hostname } = new URL(smtpUrl);
  return protocol === 'smtp:' && username !== '' && !isLoopback(hostname);
}

/** Whether the operator said so, in the parameters that nodemailer reads. */
function allowsClearText(smtpUrl: string): boolean {
  const { searchParams } = new URL(smtpUrl);
  if (searchParams.get('requireTLS') === 'true') return false;
  return (
    searchParams.get('requireTLS') === 'false' ||
    searchParams.get('ignoreTLS') === 'true' ||
    searchParams.get('opportunisticTLS') === 'true'
  );
}

function smtpWarnings(smtpUrl: string | undefined): string[] {
  if (smtpUrl === undefined) return [];
  const warnings: string[] = [];
  if (sendsLogin(smtpUrl) && allowsClearText(smtpUrl)) {
    warnings.push(
      'SMTP_URL lets user and password go to the mail server in clear, as its parameters say. Take them out to demand TLS.',
    );
  }
  const { searchParams, hostname } = new URL(smtpUrl);
  if (searchParams.get('tls.rejectUnauthorized') === 'false' && !isLoopback(hostname)) {
    warnings.push(
      'SMTP_URL does not check the certificate of the mail server, as its parameters say: somebody in between could read user and password.',
    );
  }
  return warnings;
}

const POSTGRES = /^postgres(ql)?:/;

/**
 * What keeps this page from working with a PostgreSQL.
 * @param name of what names it: DATABASE_URL, or an option that takes the same
 * @param env what pg reads beside the address
 * @returns one sentence for each; none for an address of something else
 */
function postgresComplaints(
  name: string,
  address: string,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  if (!POSTGRES.test(address)) return [];
  const complaints: string[] = [];
  if (
    hostUrls(address).every((one) => URL.canParse(one)) &&
    sendsPassword(address, env) &&
    !saysHowToConnect(address, env)
  ) {
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

function postgresWarnings(name: string, address: string): string[] {
  if (!POSTGRES.test(address)) return [];
  return [
    ...bareAtWarnings(name, address),
    ...(sendsPassword(address, {}) && parametersOf(address).get('sslmode') === 'disable'
      ? [`${name} sends all data to PostgreSQL in clear, as its sslmode=disable says.`]
      : []),
  ];
}

/**
 * Judges an address of PostgreSQL as DATABASE_URL is judged.
 * @param name of what names it
 * @param folder where relative names of files in it start
 * @returns what to connect to, and what the operator should know; or one sentence for each complaint
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
  const isAddress = hostUrls(address).every((one) => POSTGRES.test(URL.parse(one)?.protocol ?? ''));
  const complaints =
    slip !== null
      ? [`${name} ${slip}.`]
      : isAddress
        ? postgresComplaints(name, address, env)
        : [`${name} must be an address such as postgres://user@host/name.`];
  if (complaints.length > 0) return { type: 'complaints', complaints };
  return {
    type: 'database',
    database: resolveDatabase({ engine: 'postgres', url: address }, folder),
    warnings: postgresWarnings(name, address),
  };
}

/** Whether a password goes to PostgreSQL on another machine. */
const sendsPassword = (databaseUrl: string, present: Readonly<Record<string, string | undefined>>): boolean =>
  hostUrls(databaseUrl).some((one) => {
    const { hostname, password, searchParams } = new URL(one);
    const host = searchParams.get('host') ?? (decodeURIComponent(hostname) || (present['PGHOST'] ?? ''));
    const secret = password || searchParams.get('password') || present['PGPASSWORD'];
    // What begins with a slash is a socket of this machine.
    return Boolean(secret) && !host.startsWith('/') && !isLoopback(host);
  });

/** What pg itself reads when an address says nothing about TLS. */
const saysHowToConnect = (databaseUrl: string, env: Readonly<Record<string, string | undefined>>): boolean =>
  Boolean(env['PGSSLMODE']) || [...parametersOf(databaseUrl).keys()].some((key) => key.startsWith('ssl'));

function loginComplaints(present: Readonly<Record<string, string>>): string[] {
  return ['SMTP_URL', 'DATABASE_URL'].flatMap((name) => {
    const value = present[name] ?? '';
    const slip = loginSlip(value);
    if (slip !== null) return [`${name} ${slip}.`];
    const parsed = name === 'SMTP_URL' ? URL.parse(value) : null;
    return parsed !== null && !isDecodable(parsed.username + parsed.password)
      ? [`${name} has a "%" in its user or password that must be written %25.`]
      : [];
  });
}

const bareAtWarnings = (name: string, address: string): string[] =>
  hasBareAt(hostUrls(address)[0] ?? '')
    ? [`${name} has an "@" in its user or password. It is taken as part of it; write it %40 to be sure.`]
    : [];

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function portComplaints(
  present: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  // Where systemd listens (LISTEN_FDS), PORT is not used.
  const port = env['LISTEN_FDS'] ? 0 : Number(present['PORT'] ?? DEFAULT_PORT);
  const complaints: string[] = [];
  const hosts = [present['HOST'] ?? DEFAULT_HOST, present['METRICS_HOST'] ?? DEFAULT_HOST] as const;
  if (port > 0 && port === Number(present['METRICS_PORT']) && shareAddress(...hosts))
    complaints.push(`METRICS_PORT must be another number than PORT: both would listen on ${port}.`);
  const publicUrl = present['PUBLIC_URL'];
  const publicPort = publicUrl === undefined ? port : Number(URL.parse(publicUrl)?.port);
  if (BLOCKED_PORTS.has(publicPort))
    complaints.push(
      publicUrl === undefined
        ? `PORT must not be ${port}, which no browser opens. Set another; behind a proxy, set PUBLIC_URL to the address that visitors use.`
        : `PUBLIC_URL must not name port ${publicPort}, which no browser opens.`,
    );
  return complaints;
}

function complaintsAcrossSettings(
  present: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const database = present['DATABASE_URL'] ?? '';
  const complaints = [...portComplaints(present, env), ...postgresComplaints('DATABASE_URL', database, env)];
  if (POSTGRES.test(database) && !present['APP_SECRET']) {
    complaints.push(
      `APP_SECRET must be set when DATABASE_URL names PostgreSQL: every process needs the same one, of at least ${SECRET_MIN_LENGTH} random characters.`,
    );
  }
  const days = Number(present['RETENTION_DAYS'] ?? RETENTION_DAYS);
  const mailDays = Number(present['MAIL_RETENTION_DAYS'] ?? days);
  if (days > 0 && (mailDays === 0 || mailDays > days)) {
    complaints.push(
      'MAIL_RETENTION_DAYS must not be more than RETENTION_DAYS: a mail is not kept for longer than its code.',
    );
  }
  // The addresses are not repeated: whoever knows one can send to it.
  const webhookUrls = listIn(present['WEBHOOK_URLS'] ?? '').flatMap((text) => URL.parse(text) ?? []);
  const allowPrivate = present['WEBHOOK_ALLOW_PRIVATE'] === 'yes';
  if (!allowPrivate && webhookUrls.some(({ protocol }) => protocol === 'http:')) {
    complaints.push(
      'WEBHOOK_URLS must begin with https. One of your own network may be http when WEBHOOK_ALLOW_PRIVATE=yes.',
    );
  }
  if (webhookUrls.some((parsed) => isRefusedNumber(parsed, allowPrivate))) {
    complaints.push(
      'WEBHOOK_URLS names an address that is not called. One of your own network is when WEBHOOK_ALLOW_PRIVATE=yes; link-local, multicast and reserved ones, and those of clouds’ metadata, never are.',
    );
  }
  if (!present['OPERATOR_EMAIL'] && (present['NEW_LEAD_EMAIL'] ?? 'off') !== 'off') {
    complaints.push('OPERATOR_EMAIL must be set too: NEW_LEAD_EMAIL says when it is told of new leads.');
  }
  const missing = DKIM_NAMES.filter((name) => !present[name]);
  if (missing.length > 0 && missing.length < DKIM_NAMES.length) {
    complaints.push(
      `${missing.join(' and ')} must be set too: signing needs all of ${DKIM_NAMES.join(', ')}.`,
    );
  }
  if (present['PUBLIC_URL'] && !/^https?:\/\/[^/]+\/?$/.test(present['PUBLIC_URL'])) {
    complaints.push('PUBLIC_URL must be an origin without a path, such as https://guide.example.com.');
  }
  return complaints;
}
