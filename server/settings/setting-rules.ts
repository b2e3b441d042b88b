// The schema of the environment: each setting's name, form, default and the sentence for a bad value. What two settings mean
// together is in settings-together.ts.
import { createPublicKey } from 'node:crypto';
import { domainToASCII } from 'node:url';

import * as z from 'zod/mini';

import { namesSeveralHosts } from '#server/platform/postgres-url.ts';
import { asciiAddress, normaliseEmail } from '#shared/lead.ts';
import { isSingleLine } from '#shared/single-line.ts';
import {
  ASKS_FROM_NETWORK,
  BREAKER,
  CODE_LIFE_SECONDS,
  QUIET,
  SENDS_TO_ADDRESS,
  TRIES,
  TRIES_FROM_NETWORK,
} from '#server/settings/tries-and-rates.ts';

/** Characters in APP_SECRET. */
export const SECRET_MIN_LENGTH = 32;

/** A setting that is converted first, and then checked. */
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
export const RETENTION_DAYS = 30;

const retentionDays = textTo(
  (text) => (/^\d{1,5}$/.test(text) ? Number(text) : -1),
  (days) => days === 0 || days >= RETENTION_MIN_DAYS,
  `must be a whole number of days from ${RETENTION_MIN_DAYS}, or 0 for ever: limits and the breaker look back so far`,
);

const url = (protocols: readonly string[], example: string) =>
  z.string().check(
    z.refine(
      // Several hosts have a sentence of their own (database-setting.ts).
      (text) => namesSeveralHosts(text) || protocols.includes(URL.parse(text)?.protocol ?? ''),
      `must be an address such as ${example}`,
    ),
  );

const trustProxy = z._default(
  z.pipe(
    textTo(
      (text) => (text === 'off' ? '0' : text),
      (text) => /^\d{1,2}$/.test(text) || text.split(',').every((part) => isNetwork(part.trim())),
      'must be a number of proxies (1), or a list of networks (10.0.0.0/8, 2001:db8::/32), or off',
    ),
    z.transform((text): false | number | readonly string[] => {
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

const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i;

/** Unlike a visitor's, an operator's may be at a host of their own network, such as root@localhost. */
function isOperatorAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  return LOCAL_PART.test(text.slice(0, Math.max(at, 0))) && HOST_NAME.test(domainToASCII(text.slice(at + 1)));
}

/** A name that a text editor has put into quotes that mean nothing to a mail program. */
const CURLY_QUOTES = /^[“”„‘’‚].*[“”‘’]\s*(?:<[^<>]*>)?$/;

const mailbox = z.pipe(
  z
    .string()
    .check(
      z.refine(
        (text) => !CURLY_QUOTES.test(text),
        'has curly quotes around it. Write the name without quotes: Guide <guide@example.com>',
      ),
    ),
  textTo(
    (text) => {
      const [, typed, address = text] = /^([^<>]*)<([^<>]*)>$/.exec(text) ?? [];
      const name = (typed ?? '').trim();
      const [, quoted] = /^"((?:[^"\\]|\\.)*)"$/.exec(name) ?? [];
      return { name: quoted?.replaceAll(/\\(.)/g, '$1') ?? name, address: address.trim() };
    },
    ({ name, address }) => isSingleLine(name) && isOperatorAddress(address),
    'must be one e-mail address, alone or after a name, such as guide@example.com or Guide <guide@example.com>: no "mailto:", no ";"',
  ),
);

/** Leaves room for the local part of a return path in an address of 254 characters. */
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

/** A setting with several values, separated by spaces or commas. */
const listOf = (isRight: (part: string) => boolean, complaint: string) =>
  textTo(listIn, (parts) => parts.every(isRight), complaint);

export const listIn = (text: string): string[] => text.split(/[\s,]+/).filter((part) => part !== '');

/** As Standard Webhooks asks for. */
const WEBHOOK_SECRET_BYTES = { least: 24, most: 64 } as const;

function isWebhookSecret(text: string): boolean {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  if (base64 === undefined || base64.length % 4 !== 0) return false;
  const { length } = Buffer.from(base64, 'base64');
  return length >= WEBHOOK_SECRET_BYTES.least && length <= WEBHOOK_SECRET_BYTES.most;
}

export const DEFAULT_PORT = 3000;
export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_DESK_PORT = 3001;

/** Who may sign in at the desk: `read` looks; `all` also exports, corrects, erases and suppresses. */
export type DeskRole = 'read' | 'all';
/** How a person may sign in at the desk, and what they may do there. */
type DeskPerson = { readonly role: DeskRole; readonly passkeyOnly: boolean };
const DESK_PERSON = /^([^\s<>@:]+@[^\s<>@:]+)(?::(read|all))?(:passkey)?$/;

const deskPeople = z.optional(
  z.pipe(
    z.string(),
    z.transform((text, { issues }) => {
      const people = new Map<string, DeskPerson>();
      // A complaint repeats no value, so an entry is named by its place.
      const refuse = (why = '') =>
        issues.push({
          code: 'custom',
          input: text,
          message: `must be addresses, each once, such as ada@example.com:all, bob@example.com (who may only read)${why}`,
        });
      const parts = listIn(text);
      for (const [index, part] of parts.entries()) {
        const [, address = '', role = 'read', passkey] = DESK_PERSON.exec(part) ?? [];
        const email = normaliseEmail(address);
        if (asciiAddress(address) === null) refuse(`: entry ${index + 1} is not one`);
        else if (people.has(email)) refuse(`: entry ${index + 1} repeats one`);
        else people.set(email, { role: role as DeskRole, passkeyOnly: passkey !== undefined });
      }
      if (parts.length === 0) refuse();
      return people;
    }),
  ),
);

/** The environment: every setting by its name. */
export const Environment = z.object({
  // env-file.ts reads these two before all the others.
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
  MAIL_FROM: z.optional(mailbox),
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
    z
      .string()
      .check(
        z.refine(
          isOperatorAddress,
          'must be one e-mail address alone, such as you@example.com: no name, no "mailto:", no ";"',
        ),
      ),
  ),
  GUIDE_EMAIL: z._default(z.enum(['off', 'link', 'attachment'], 'must be off, link or attachment'), 'off'),
  NEW_LEAD_EMAIL: z._default(
    z.enum(['off', 'each', 'daily', 'weekly'], 'must be off, each, daily or weekly'),
    'off',
  ),
  NEW_LEAD_EMAIL_AT: z._default(
    textTo(
      (text) => {
        const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
        return hours === undefined ? NaN : (Number(hours) * 60 + Number(minutes)) * 60_000;
      },
      (ms) => !Number.isNaN(ms),
      'must be a time of day in UTC, such as 07:00',
    ),
    7 * 3_600_000,
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
  DESK_URL: z.optional(url(['http:', 'https:'], 'https://desk.example.com')),
  DESK_PORT: wholeNumber(DEFAULT_DESK_PORT, { max: 65_535 }),
  DESK_PEOPLE: deskPeople,
  METRICS_PORT: wholeNumber(0, { max: 65_535 }),
  METRICS_HOST: z._default(z.string(), DEFAULT_HOST),
});

export type Environment = z.infer<typeof Environment>;

/** The names of all settings. */
export const SETTING_NAMES: readonly string[] = Object.keys(Environment.shape);
