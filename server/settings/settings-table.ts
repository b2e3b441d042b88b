// Describes every setting once. Types, checks, `.env.example` and the table in docs/running.md are derived from it.
import { databaseUrl, smtpUrl } from '#server/settings/connection-urls.ts';
import {
  anyText,
  appSecrets,
  bounceDomain,
  deskUrl,
  deskUsers,
  emailAddress,
  isKeyOnP256,
  isWebUrl,
  listOf,
  mailbox,
  oneOf,
  pageUrl,
  retentionDays,
  textThat,
  timeOfDayMs,
  trustedProxies,
  webhookSecrets,
  wholeNumber,
  type ReadSetting,
} from '#server/settings/setting-values.ts';
import { RESEND_COUNTDOWN_SECONDS } from '#shared/limits.ts';

export type Setting = {
  readonly group?: string;
  readonly value: ReadSetting<unknown>;
  readonly default?: string;
  readonly otherwise?: string;
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
    otherwise: "the project's folder",
    example: '/srv/guide',
    meaning: 'Folder with `.env` and `data/`; relative paths in settings start here.',
    details: 'Can only be set in the environment, as this file is in that folder.',
  },
  CAMPAIGN_FOLDER: {
    value: anyText,
    otherwise: '`campaign/`',
    example: 'examples/german',
    meaning: 'Folder with the words and pictures; build again after a change.',
  },

  PORT: {
    group: 'The page',
    value: wholeNumber(0, 65_535),
    default: '3000',
    meaning: 'Port of the page.',
    details: 'Browsers refuse some ports, such as 6000; the start reports them.',
  },
  HOST: { value: anyText, default: '127.0.0.1', meaning: 'IP address that the page and the desk listen on.' },
  PUBLIC_URL: {
    value: pageUrl,
    example: 'https://guide.example.com',
    meaning: 'URL that visitors use, with an optional path.',
    details:
      'Forms sent from another origin are refused, except on this machine. With https, cookies are Secure and browsers stay on https.',
  },
  TRUST_PROXY: {
    value: trustedProxies,
    default: 'off',
    meaning: 'Proxies whose X-Forwarded-For counts: `off`, their number (1) or their networks (10.0.0.0/8).',
    details: 'See docs/install.md.',
  },
  LOG_LEVEL: {
    value: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'silent'),
    default: 'info',
    meaning: 'Lowest severity that the log keeps: `fatal`, `error`, `warn`, `info`, `debug` or `silent`.',
  },

  DATABASE_URL: {
    group: 'Database and secret',
    value: databaseUrl,
    default: 'file:./data/leads.db',
    meaning: 'SQLite file, or PostgreSQL (docs/postgres.md) for several processes.',
    details:
      'A password for PostgreSQL on another machine requires sslmode: postgres://user:password@db.example.com/leads?sslmode=verify-full (TLS, certificate checked; sslrootcert=FILE names another authority), sslmode=no-verify (TLS with any certificate) or sslmode=disable (in clear, for your own network). Name one host. Through a transaction pooler such as PgBouncer, add prepare=false.',
  },
  APP_SECRET: {
    value: appSecrets,
    otherwise: '`data/app-secret`',
    meaning: 'Signs cookies and links, derives codes; required with PostgreSQL.',
    details:
      'At least 32 characters: openssl rand -base64 32. If unset, it is made once and kept in data/app-secret. With PostgreSQL, all processes need the same one. To change it, put the new one first: new,old',
  },

  SMTP_URL: {
    group: 'Outgoing mail',
    value: smtpUrl,
    example: 'smtps://user:password@mail.example.com',
    meaning: 'Mail account; without one, e-mails go to `data/mail/` and codes are printed.',
    details:
      'In user and password, write @ as %40, # as %23, / as %2F, ? as %3F and % as %25. smtps:// uses TLS from the start (port 465), smtp:// switches to it (port 587). A user at another machine requires TLS, unless the URL ends with ?requireTLS=false. The page greets with the host of PUBLIC_URL; ?name=mail.example.com changes that.',
  },
  MAIL_FROM: {
    value: mailbox,
    example: 'Master AI-Powered Outreach <guide@example.com>',
    meaning: 'Sender, such as `Guide <guide@example.com>`.',
  },
  DKIM_DOMAIN: {
    value: anyText,
    example: 'example.com',
    meaning: 'Domain for DKIM signing by this server; set all three DKIM settings or none.',
    details: 'Not needed if your mail account signs.',
  },
  DKIM_SELECTOR: { value: anyText, example: 'guide', meaning: 'Selector of the DKIM key.' },
  DKIM_PRIVATE_KEY_FILE: {
    value: anyText,
    example: '/etc/guide/dkim.pem',
    meaning: 'RSA key in PEM, 1024 bits or more.',
    details: 'openssl genrsa -out dkim.pem 2048',
  },

  BOUNCE_DOMAIN: {
    group: 'Bounces and spam complaints',
    value: bounceDomain,
    example: 'bounces.example.com',
    meaning: 'Domain of return paths, so that bounces identify the e-mail.',
    details: 'It needs its own MX record and SPF record (docs/running.md).',
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
      'must be a user and a password of 16 characters or more, such as postmark:… (openssl rand -hex 16)',
    ),
    meaning: '`user:password` that Postmark sends when it calls `/api/mail-events/postmark`.',
    details: 'The password has at least 16 characters.',
  },
  MAIL_EVENTS_MAILGUN_KEY: {
    value: textThat(
      (text) => text.length >= 16,
      'must be the HTTP webhook signing key that Mailgun shows under API security',
    ),
    meaning: 'HTTP webhook signing key of Mailgun, which calls `/api/mail-events/mailgun`.',
  },
  MAIL_EVENTS_SENDGRID_KEY: {
    value: textThat(
      isKeyOnP256,
      'must be the verification key that SendGrid shows for the signed event webhook',
    ),
    meaning:
      'Verification key of the signed event webhook of SendGrid, which calls `/api/mail-events/sendgrid`.',
  },

  LEADS_PER_IP_PER_HOUR: {
    group: 'Codes and their limits; 0 lifts a limit',
    value: limit,
    default: '100',
    meaning: 'Code requests per network and hour.',
  },
  LEADS_PER_EMAIL_PER_HOUR: {
    value: limit,
    default: '5',
    meaning: 'Codes per e-mail address and hour; twice as many per day.',
  },
  VERIFY_PER_IP_PER_HOUR: { value: limit, default: '300', meaning: 'Entered codes per network and hour.' },
  CODE_ATTEMPTS: { value: wholeNumber(0, 1_000), default: '5', meaning: 'Wrong codes per challenge.' },
  CODE_TTL_SECONDS: {
    value: wholeNumber(1, 86_400),
    default: '600',
    meaning: 'Validity of a code after sending.',
    details:
      'A form is refused if its code would wait for more than a quarter of this time before it is sent.',
  },
  RESEND_SECONDS: {
    value: wholeNumber(0, 3_600),
    default: String(RESEND_COUNTDOWN_SECONDS),
    meaning: 'Wait before another code.',
  },
  BREAKER_CODES_PER_MINUTE: {
    value: limit,
    default: '1000',
    meaning: 'Above this, browsers must solve a proof of work (the list-bomb breaker).',
    details: 'People notice a second or two. Set it to a few times your busiest minute.',
  },
  BREAKER_UNENTERED_PERCENT: {
    value: wholeNumber(0, 100),
    default: '70',
    meaning: 'The same, if at some recipient domains this share of people enters no code.',
    details:
      'The share must also be far above its usual level. If one network has many such people, only that network must, from a fifth of LEADS_PER_IP_PER_HOUR on.',
  },

  RETENTION_DAYS: {
    group: 'Kept data',
    value: retentionDays,
    default: '30',
    meaning: 'Days that unverified data is kept; at least 9, or 0 to keep it forever.',
    details: 'Verified leads and their receipts stay.',
  },
  MAIL_RETENTION_DAYS: {
    value: retentionDays,
    otherwise: 'RETENTION_DAYS',
    example: '30',
    meaning: 'The same for e-mail that was sent or given up; not longer than RETENTION_DAYS.',
  },
  FUNNEL_COUNTING: {
    value: oneOf('on', 'off'),
    default: 'on',
    meaning: 'Anonymous counts of views and steps, by day and source.',
    details: 'Earlier counts stay for two years after it is turned off.',
  },

  OPERATOR_EMAIL: {
    group: 'Other e-mails, and which addresses are accepted',
    value: emailAddress,
    example: 'you@example.com',
    meaning: 'Receives alerts of the breaker, and new leads (NEW_LEAD_EMAIL).',
  },
  GUIDE_EMAIL: {
    value: oneOf('off', 'link', 'attachment'),
    default: 'off',
    meaning: '`link` or `attachment`: e-mails the guide after the code.',
    details:
      'The link works for seven days on any device. The words, and the file, are in campaign/emails/guide.yaml.',
  },
  NEW_LEAD_EMAIL: {
    value: oneOf('off', 'each', 'daily', 'weekly'),
    default: 'off',
    meaning: '`each`, `daily` or `weekly`: reports new leads to OPERATOR_EMAIL.',
    details:
      'each: at once, but after ten within an hour as one list; daily: those of the previous day; weekly: on Mondays, with the numbers of the previous week. The words are in campaign/emails/new-lead.yaml.',
  },
  NEW_LEAD_EMAIL_AT: {
    value: timeOfDayMs,
    default: '07:00',
    meaning: 'Time of day for `daily` and `weekly`, in UTC.',
  },
  FREE_MAIL: {
    value: domainPolicy,
    default: 'off',
    meaning: '`flag` or `block` addresses at free-mail providers.',
    details: 'They are listed in campaign/free-mail-domains.txt.',
  },
  DISPOSABLE_MAIL: {
    value: domainPolicy,
    default: 'off',
    meaning: '`flag` or `block` addresses at disposable providers.',
  },

  WEBHOOK_URLS: {
    group: 'Webhooks',
    value: listOf(isWebUrl, 'must be URLs such as https://hooks.example.com/leads, separated by spaces'),
    example: 'https://hooks.example.com/leads',
    meaning: 'Receivers of events about leads (docs/webhooks.md), separated by spaces.',
  },
  WEBHOOK_SECRET: {
    value: webhookSecrets,
    otherwise: 'from APP_SECRET',
    meaning: 'Signs webhooks (Standard Webhooks).',
    details:
      'To change it, write the new one first, then the old one, until every receiver knows the new one. `npm run -s desk -- webhooks secret` prints it.',
  },
  WEBHOOK_ALLOW_PRIVATE: {
    value: oneOf('yes', 'no'),
    default: 'no',
    meaning: 'Allows private networks and http.',
  },

  DESK_URL: {
    group: 'The desk in a browser',
    value: deskUrl,
    example: 'https://desk.example.com',
    meaning: 'URL of the desk for colleagues (docs/desk.md), on another host than the page; off if unset.',
    details: 'A proxy passes it on to DESK_PORT. With https, TRUST_PROXY must be set.',
  },
  DESK_PORT: { value: wholeNumber(0, 65_535), default: '3001', meaning: 'Port of the desk.' },
  DESK_PEOPLE: {
    value: deskUsers,
    example: 'ada@example.com:all, bob@example.com',
    meaning: 'People who may sign in with an e-mailed code, such as `ada@example.com:all`.',
    details:
      'Those with :all also export, correct, erase and suppress; the others only read. Those with :passkey at the end (bob@example.com:passkey, ada@example.com:all:passkey) get no code once they have a passkey.',
  },

  METRICS_PORT: {
    group: 'Metrics',
    value: wholeNumber(0, 65_535),
    default: '0',
    meaning: 'Port of Prometheus metrics, which visitors must not reach; 0 is off.',
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
