// The settings: what the rest of the server knows of the environment. A pure function reads them; env-file.ts hands it the
// environment. `.env.example` lists the same names; a test keeps the two equal.
import path from 'node:path';

import type { DatabaseAddress } from '#server/platform/database-url.ts';
import { bareAtWarnings, loginComplaints } from '#server/settings/addresses-in-settings.ts';
import { databaseAt, postgresWarnings, resolveDatabase } from '#server/settings/database-setting.ts';
import { Environment, SETTING_NAMES, type DeskRole } from '#server/settings/setting-rules.ts';
import { complaintsAcrossSettings } from '#server/settings/settings-together.ts';
import { smtpWarnings } from '#server/settings/smtp-setting.ts';

/** How mail is signed. */
export type DkimConfig = {
  readonly domainName: string;
  readonly keySelector: string;
  readonly privateKeyFile: string;
};

type MailConfig =
  | { readonly kind: 'files' }
  | { readonly kind: 'smtp'; readonly url: string; readonly dkim: DkimConfig | null };

/** Who mail comes from: a name as readers see it, or '', and an e-mail address. */
export type Mailbox = { readonly name: string; readonly address: string };

export type Config = {
  readonly port: number;
  readonly host: string;
  /** Address of the public page, without a slash at its end. */
  readonly publicUrl: string;
  /** Its path, such as `/guide`; empty at the root of its host. */
  readonly basePath: string;
  /** Whether PUBLIC_URL is https: turns on HSTS, Secure and prefixed cookies. */
  readonly secure: boolean;
  readonly database: DatabaseAddress;
  readonly mail: MailConfig;
  /** Null: the product title at the host of PUBLIC_URL, which real mail servers will distrust. */
  readonly mailFrom: Mailbox | null;
  /** The domain of return paths, a different one for each mail; null: they are the address of MAIL_FROM. */
  readonly bounceDomain: string | null;
  /** What authenticates the events of each mail provider; null: its events are refused. */
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
  /** Whose X-Forwarded-For counts: false for none, the number of trusted hops, or the trusted networks. */
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
  /** How many days rows are kept (server/upkeep/delete-expired-rows.ts); 0: for ever. */
  readonly retention: {
    /** Unverified submissions, and codes. */
    readonly unverifiedDays: number;
    /** Mail that was sent or has failed. */
    readonly mailDays: number;
  };
  /** Whether views of the page, the form and the article are counted. */
  readonly funnelCounting: boolean;
  /** Receives mail when the breaker opens, and about new leads; null: no such mail. */
  readonly operatorEmail: string | null;
  /** What is mailed once a code was entered: nothing, a link to the guide, or the guide as a file. */
  readonly guideEmail: 'off' | 'link' | 'attachment';
  /** When mail about new leads is sent: never, for each at once, or once a day for those of the day before. */
  readonly newLeadEmail: 'off' | 'each' | 'daily' | 'weekly';
  /** When the mail about a day or a week is sent: milliseconds after midnight UTC. */
  readonly newLeadEmailAtMs: number;
  readonly freeMail: DomainPolicy;
  readonly disposableMail: DomainPolicy;
  /** Where events about leads are sent. */
  readonly webhooks: {
    /** Empty: no events are sent. */
    readonly urls: readonly string[];
    /** Newest first. Empty: made from APP_SECRET. */
    readonly secrets: readonly string[];
    readonly allowPrivate: boolean;
  };
  /** Where the desk is in a browser; null: nowhere. */
  readonly desk: DeskConfig | null;
  /** Where Prometheus metrics are served; null: nowhere. */
  readonly metrics: { readonly port: number; readonly host: string } | null;
};

export type DeskConfig = {
  /** Origin of its pages. */
  readonly url: string;
  /** It listens at the host of the page. */
  readonly port: number;
  /** Who may sign in: addresses as they are stored, and roles. */
  readonly people: ReadonlyMap<string, DeskRole>;
  /** Those of them who get no code once they have a passkey. */
  readonly passkeyOnly: ReadonlySet<string>;
};

/** What to do about an address at certain domains: nothing, mark the lead, or refuse it. */
type DomainPolicy = 'off' | 'flag' | 'block';

export type ConfigResult =
  | {
      readonly type: 'config';
      readonly config: Config;
      /** One sentence for each decision of the operator that is worth a warning; logged at start. */
      readonly warnings: readonly string[];
    }
  | { readonly type: 'complaints'; readonly complaints: readonly string[] };

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
  const basePath = publicUrl.pathname.replace(/\/$/, '');
  return {
    type: 'config',
    warnings: [
      ...bareAtWarnings('SMTP_URL', settings.SMTP_URL ?? ''),
      ...smtpWarnings(settings.SMTP_URL),
      ...postgresWarnings('DATABASE_URL', settings.DATABASE_URL),
    ],
    config: {
      port: settings.PORT,
      // For this name Fastify opens two servers, and connections are counted and drained on one.
      host: settings.HOST === 'localhost' ? '127.0.0.1' : settings.HOST,
      publicUrl: publicUrl.origin + basePath,
      basePath,
      secure: publicUrl.protocol === 'https:',
      database: databaseAt(settings.DATABASE_URL),
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
        // An address that is listed twice gets each event once.
        urls: [...new Set(settings.WEBHOOK_URLS.map((text) => new URL(text).href))],
        secrets: settings.WEBHOOK_SECRET,
        allowPrivate: settings.WEBHOOK_ALLOW_PRIVATE === 'yes',
      },
      desk: deskOf(settings),
      metrics:
        settings.METRICS_PORT === 0 ? null : { port: settings.METRICS_PORT, host: settings.METRICS_HOST },
    },
  };
}

function dkimOf(settings: Environment): DkimConfig | null {
  const { DKIM_DOMAIN, DKIM_SELECTOR, DKIM_PRIVATE_KEY_FILE } = settings;
  if (!DKIM_DOMAIN || !DKIM_SELECTOR || !DKIM_PRIVATE_KEY_FILE) return null;
  return { domainName: DKIM_DOMAIN, keySelector: DKIM_SELECTOR, privateKeyFile: DKIM_PRIVATE_KEY_FILE };
}

function deskOf({ DESK_URL, DESK_PORT, DESK_PEOPLE }: Environment): DeskConfig | null {
  if (DESK_URL === undefined) return null;
  const people = [...(DESK_PEOPLE ?? [])];
  return {
    url: new URL(DESK_URL).origin,
    port: DESK_PORT,
    people: new Map(people.map(([email, { role }]) => [email, role])),
    passkeyOnly: new Set(people.flatMap(([email, { passkeyOnly }]) => (passkeyOnly ? [email] : []))),
  };
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
