// Describes every setting once. Types, checks, `.env.example` and the table in docs/running.md are derived from it.
import { databaseUrl, smtpUrl } from '#server/settings/connection-urls.ts';
import {
  anyText,
  appSecrets,
  bounceDomain,
  deskUrl,
  deskUsers,
  isKeyOnP256,
  isWebUrl,
  listOf,
  mailbox,
  oneOf,
  operatorAddresses,
  pageUrl,
  retentionDays,
  textThat,
  timeOfDayMs,
  timeZone,
  trustedProxies,
  webhookEvents,
  webhookSecrets,
  wholeNumber,
  type ReadSetting,
} from '#server/settings/setting-values.ts';
import { RESEND_COUNTDOWN_SECONDS } from '#shared/lengths-and-resend.ts';

export type Setting = {
  readonly group?: string;
  readonly value: ReadSetting<unknown>;
  readonly default?: string;
  /** What is used instead of a default that could be written into `.env`. */
  readonly ifUnset?: string;
  readonly example?: string;
  readonly meaning: string;
  readonly details?: string;
};

const limit = wholeNumber(0, 1_000_000);
const domainPolicy = oneOf('off', 'flag', 'block');
const MAIL_EVENTS_PASSWORD = /^[^:\s]+:[^\s]{16,}$/;
const SES_TOPIC = /^arn:aws(?:-cn|-us-gov)?:sns:[a-z]{2,4}(?:-[a-z]+)+-\d:\d{12}:[\w-]{1,256}$/;

export const SETTINGS = {
  INSTANCE_FOLDER: {
    group: 'Folders',
    value: anyText,
    ifUnset: "the project's folder",
    example: '/srv/guide',
    meaning: 'Folder that contains `.env` and `data/`. Relative paths in settings start here.',
    details: 'This can only be set in the environment, because this file is in that folder.',
  },
  CAMPAIGN_FOLDER: {
    value: anyText,
    ifUnset: '`campaign/`',
    example: 'examples/german',
    meaning: 'Folder with the words and pictures. Build the site again after a change.',
  },

  PORT: {
    group: 'The page',
    value: wholeNumber(0, 65_535),
    default: '3000',
    meaning: 'Port that the page listens on.',
  },
  HOST: { value: anyText, default: '127.0.0.1', meaning: 'IP address that the page and the desk listen on.' },
  PUBLIC_URL: {
    value: pageUrl,
    example: 'https://guide.example.com',
    meaning: 'URL that visitors use, with an optional path.',
    details:
      'Forms sent from another origin are refused, except on this machine. With https, cookies are Secure and browsers only use https.',
  },
  TRUST_PROXY: {
    value: trustedProxies,
    default: 'off',
    meaning:
      'Proxies whose X-Forwarded-For header is trusted: `off`, their number (1) or their networks (10.0.0.0/8).',
    details: 'docs/install.md explains how to choose the value.',
  },
  LOG_LEVEL: {
    value: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'silent'),
    default: 'info',
    meaning: 'Lowest severity to be logged: `fatal`, `error`, `warn`, `info`, `debug` or `silent`.',
  },

  DATABASE_URL: {
    group: 'Database and secret',
    value: databaseUrl,
    default: 'file:./data/leads.db',
    meaning: 'SQLite file, or PostgreSQL database (docs/postgres.md) for several processes.',
    details:
      'With a password for PostgreSQL on another machine, add sslmode: postgres://user:password@db.example.com/leads?sslmode=verify-full (TLS with certificate check; sslrootcert=FILE names another authority), sslmode=no-verify (TLS with any certificate) or sslmode=disable (no encryption, only in your own network). Name only one host. With a transaction pooler such as PgBouncer, add prepare=false.',
  },
  APP_SECRET: {
    value: appSecrets,
    ifUnset: '`data/app-secret`',
    meaning: 'Secret that signs cookies and links and derives codes. Required with PostgreSQL.',
    details:
      'At least 32 characters: openssl rand -base64 32. If unset, a secret is created once and kept in data/app-secret. With PostgreSQL, all processes need the same secret. To change it, list the new secret first: new,old',
  },

  SMTP_URL: {
    group: 'Outgoing mail',
    value: smtpUrl,
    example: 'smtps://user:password@mail.example.com',
    meaning: 'Mail account. If unset, e-mails are written to `data/mail/` and codes are printed.',
    details:
      'In user and password, write @ as %40, # as %23, / as %2F, ? as %3F and % as %25. smtps:// uses TLS from the start (port 465), smtp:// switches to it (port 587). A user on another machine requires TLS, unless the URL ends with ?requireTLS=false. The greeting (EHLO) contains the host of PUBLIC_URL. To change that, add ?name=mail.example.com.',
  },
  MAIL_FROM: {
    value: mailbox,
    example: 'Master AI-Powered Outreach <guide@example.com>',
    meaning: 'Sender of all e-mails, such as `Guide <guide@example.com>`.',
  },
  DKIM_DOMAIN: {
    value: anyText,
    example: 'example.com',
    meaning: 'Domain for DKIM signing by this server. Set all three DKIM settings or none of them.',
    details: 'Not needed if your mail provider signs e-mails.',
  },
  DKIM_SELECTOR: { value: anyText, example: 'guide', meaning: 'Selector of the DKIM key.' },
  DKIM_PRIVATE_KEY_FILE: {
    value: anyText,
    example: '/etc/guide/dkim.pem',
    meaning: 'RSA key in PEM format with at least 1024 bits.',
    details: 'To create one: openssl genrsa -out dkim.pem 2048',
  },

  BOUNCE_DOMAIN: {
    group: 'Bounces and spam complaints',
    value: bounceDomain,
    example: 'bounces.example.com',
    meaning: 'Domain for return paths, which allow each bounce to be matched to its e-mail.',
    details: 'The domain needs its own MX record and SPF record (docs/running.md).',
  },
  MAIL_EVENTS_SES_TOPIC: {
    value: textThat(
      (text) => SES_TOPIC.test(text),
      'must be the ARN of a standard topic, such as arn:aws:sns:eu-west-1:123456789012:guide-mail',
    ),
    example: 'arn:aws:sns:eu-west-1:123456789012:guide-mail',
    meaning: 'SNS topic of Amazon SES, which calls `/api/mail-events/ses`.',
  },
  MAIL_EVENTS_POSTMARK_LOGIN: {
    value: textThat(
      (text) => MAIL_EVENTS_PASSWORD.test(text),
      'must be a user, a colon and a password of at least 16 characters, such as postmark:… (create the password with openssl rand -hex 16)',
    ),
    meaning: '`user:password` that Postmark sends when it calls `/api/mail-events/postmark`.',
    details: 'The password must have at least 16 characters.',
  },
  MAIL_EVENTS_MAILGUN_KEY: {
    value: textThat(
      (text) => text.length >= 16,
      'must be the HTTP webhook signing key shown by Mailgun under API security',
    ),
    meaning: 'Mailgun’s HTTP webhook signing key. Mailgun calls `/api/mail-events/mailgun`.',
  },
  MAIL_EVENTS_SENDGRID_KEY: {
    value: textThat(
      isKeyOnP256,
      'must be the verification key shown by SendGrid for the signed event webhook',
    ),
    meaning: 'Verification key of SendGrid’s signed event webhook, which calls `/api/mail-events/sendgrid`.',
  },

  LEADS_PER_IP_PER_HOUR: {
    group: 'Codes and their limits (0 means unlimited)',
    value: limit,
    default: '100',
    meaning: 'Code requests per network and hour.',
  },
  LEADS_PER_EMAIL_PER_HOUR: {
    value: limit,
    default: '5',
    meaning: 'Codes per e-mail address and hour. Twice as many are allowed per day.',
  },
  VERIFY_PER_IP_PER_HOUR: {
    value: limit,
    default: '300',
    meaning: 'Attempts to enter a code per network and hour.',
  },
  CODE_ATTEMPTS: {
    value: wholeNumber(0, 1_000),
    default: '5',
    meaning: 'Allowed wrong codes per challenge.',
  },
  CODE_TTL_SECONDS: {
    value: wholeNumber(1, 86_400),
    default: '600',
    meaning: 'Time for which a code is valid after it was sent.',
    details: 'A form is refused if its code would be queued for more than a quarter of this time.',
  },
  RESEND_SECONDS: {
    value: wholeNumber(0, 3_600),
    default: String(RESEND_COUNTDOWN_SECONDS),
    meaning: 'Waiting time before another code can be requested.',
  },
  BREAKER_CODES_PER_MINUTE: {
    value: limit,
    default: '1000',
    meaning: 'Above this rate, browsers must solve a proof of work (the list-bomb breaker).',
    details:
      'The proof takes a second or two. Set this to a few times the number of codes in your busiest minute.',
  },
  BREAKER_UNENTERED_PERCENT: {
    value: wholeNumber(0, 100),
    default: '70',
    meaning:
      'Share of people at certain recipient domains who enter no code. Above this share, browsers must also solve a proof of work.',
    details:
      'The share must also be far above its usual level. If many of these people come from one network, only that network must solve it, after a fifth of LEADS_PER_IP_PER_HOUR.',
  },

  RETENTION_DAYS: {
    group: 'Kept data',
    value: retentionDays,
    default: '30',
    meaning: 'Number of days for which unverified data is kept: at least 9, or 0 to keep it forever.',
    details: 'Verified leads and their receipts are not deleted.',
  },
  MAIL_RETENTION_DAYS: {
    value: retentionDays,
    ifUnset: 'RETENTION_DAYS',
    example: '30',
    meaning: 'Number of days for which sent and undeliverable e-mails are kept, at most RETENTION_DAYS.',
  },
  FUNNEL_COUNTING: {
    value: oneOf('on', 'off'),
    default: 'on',
    meaning: 'Anonymous counts of views and steps, by day and source.',
    details: 'After counting is turned off, earlier counts are kept for two years.',
  },
  TIME_ZONE: {
    value: timeZone,
    ifUnset: 'the server’s time zone',
    example: 'Europe/Berlin',
    meaning: 'Time zone of days in reports, the desk, e-mails and commands.',
    details:
      'With several processes, set it, so that all use the same one. Views counted before a change keep their day.',
  },

  OPERATOR_EMAIL: {
    group: 'Other e-mails, and which addresses are accepted',
    value: operatorAddresses,
    example: 'you@example.com, ada@example.com',
    meaning:
      'E-mail addresses that receive alerts (breaker, failed desk sign-ins) and new leads (NEW_LEAD_EMAIL), separated by commas.',
  },
  GUIDE_EMAIL: {
    value: oneOf('off', 'link', 'attachment'),
    default: 'off',
    meaning: '`link` or `attachment`: sends the guide by e-mail once the code has been entered.',
    details:
      'The link works for seven days on any device. The words and the name of the file are in campaign/emails/guide.yaml.',
  },
  NEW_LEAD_EMAIL: {
    value: oneOf('off', 'each', 'daily', 'weekly'),
    default: 'off',
    meaning: '`each`, `daily` or `weekly`: reports new leads to OPERATOR_EMAIL.',
    details:
      'each: an e-mail for every lead; daily: the leads of the previous day; weekly: on Mondays, with the figures for the previous week. The words are in campaign/emails/new-lead.yaml.',
  },
  NEW_LEAD_EMAIL_AT: {
    value: timeOfDayMs,
    default: '07:00',
    meaning: 'Time of day in TIME_ZONE for `daily` and `weekly`.',
  },
  FREE_MAIL: {
    value: domainPolicy,
    default: 'off',
    meaning: '`flag` or `block` addresses at free-mail providers.',
    details: 'The providers are listed in campaign/free-mail-domains.txt.',
  },
  DISPOSABLE_MAIL: {
    value: domainPolicy,
    default: 'off',
    meaning: '`flag` or `block` addresses at disposable providers.',
  },

  WEBHOOK_URLS: {
    group: 'Webhooks',
    value: listOf(
      (text) => isWebUrl(text) && !/;https?:/i.test(text),
      'must be URLs such as https://hooks.example.com/leads, separated by spaces',
    ),
    example: 'https://hooks.example.com/leads',
    meaning: 'Receivers of events about leads (docs/webhooks.md), separated by spaces.',
  },
  WEBHOOK_EVENTS: {
    value: webhookEvents,
    ifUnset: 'all',
    example: 'lead.verified, lead.unsubscribed, lead.erased',
    meaning: 'Types of events that are sent, separated by commas.',
    details: 'Receivers that keep people need lead.unsubscribed and lead.erased.',
  },
  WEBHOOK_SECRET: {
    value: webhookSecrets,
    ifUnset: 'from APP_SECRET',
    meaning: 'Signs webhooks (Standard Webhooks).',
    details:
      'To change the secret, list the new one first and keep the old one after it until every receiver knows the new one. `npm run -s desk -- webhooks secret` prints the secrets.',
  },
  WEBHOOK_ALLOW_PRIVATE: {
    value: oneOf('yes', 'no'),
    default: 'no',
    meaning: 'Allows webhooks to use private networks and http.',
  },

  DESK_URL: {
    group: 'The desk in a browser',
    value: deskUrl,
    example: 'https://desk.example.com',
    meaning:
      'URL of the desk for colleagues (docs/desk.md), on a different host from the page. Off if unset.',
    details:
      'Requests to this URL must be forwarded to DESK_PORT by a proxy. With https, TRUST_PROXY must also be set.',
  },
  DESK_PORT: { value: wholeNumber(0, 65_535), default: '3001', meaning: 'Port that the desk listens on.' },
  DESK_PEOPLE: {
    value: deskUsers,
    example: 'ada@example.com:all, bob@example.com',
    meaning: 'People who may sign in with an e-mailed code, such as `ada@example.com:all`.',
    details:
      'People with :all may also export, correct, erase and suppress. The others may only read. People with :passkey at the end (bob@example.com:passkey, ada@example.com:all:passkey) get no codes once they have a passkey.',
  },

  METRICS_PORT: {
    group: 'Metrics',
    value: wholeNumber(0, 65_535),
    default: '0',
    meaning: 'Port for Prometheus metrics, which must not be reachable by visitors. 0 turns them off.',
  },
  METRICS_HOST: { value: anyText, default: '127.0.0.1', meaning: 'IP address that the metrics listen on.' },
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof SETTINGS;

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

export const isSettingName = (name: string): name is SettingName => Object.hasOwn(SETTINGS, name);

export type SettingValues = {
  readonly [Name in SettingName]:
    | ((typeof SETTINGS)[Name]['value'] extends ReadSetting<infer Value> ? Value : never)
    | ((typeof SETTINGS)[Name] extends { readonly default: string } ? never : undefined);
};
