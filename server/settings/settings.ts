import path from 'node:path';

import { LEAD_EVENT_TYPES } from '#server/platform/lead-event-types.ts';
import { databaseWarnings, resolveDatabase, smtpWarnings } from '#server/settings/connection-urls.ts';
import { mistakesAcrossSettings } from '#server/settings/rules-across-settings.ts';
import type { DeskUser, Environment } from '#server/settings/setting-values.ts';
import {
  SETTING_NAMES,
  SETTINGS,
  type Setting,
  type SettingName,
  type SettingValues,
} from '#server/settings/settings-table.ts';
import { isTimeZone } from '#shared/days.ts';

export type { Mailbox } from '#server/settings/setting-values.ts';

export type DkimConfig = {
  readonly domainName: string;
  readonly keySelector: string;
  readonly privateKeyFile: string;
};

type MailConfig =
  | { readonly kind: 'files' }
  | { readonly kind: 'smtp'; readonly url: string; readonly dkim: DkimConfig | null };

export type DeskConfig = {
  readonly url: string;
  readonly port: number;
  /** By normalised e-mail address. */
  readonly people: ReadonlyMap<string, DeskUser>;
};

export type Config = ReturnType<typeof configFrom>;

export type ConfigResult =
  | {
      readonly type: 'config';
      readonly config: Config;
      readonly warnings: readonly string[];
    }
  | {
      readonly type: 'mistakes';
      readonly mistakes: readonly string[];
    };

/**
 * Reads the settings. Empty values count as unset.
 * @param folder where relative paths start
 */
export function readConfig(env: Environment, folder: string): ConfigResult {
  const texts: Partial<Record<SettingName, string>> = {};
  const values: Partial<Record<SettingName, unknown>> = {};
  const mistakes: string[] = [];
  for (const name of SETTING_NAMES) {
    const setting: Setting = SETTINGS[name];
    const text = env[name]?.trim();
    if (text) texts[name] = text;
    const used = text || setting.default;
    if (used === undefined) continue;
    const read = setting.value(used, env);
    if ('value' in read) values[name] = read.value;
    else mistakes.push(...read.mistakes.map((mistake) => `${name} ${mistake}.`));
  }
  mistakes.push(...mistakesAcrossSettings({ texts, values: values as Partial<SettingValues>, env }));
  if (mistakes.length > 0) return { type: 'mistakes', mistakes };
  const config = configFrom(values as SettingValues, folder);
  const mailWarnings = config.mail.kind === 'smtp' ? smtpWarnings(config.mail.url) : [];
  const warnings = [...mailWarnings, ...databaseWarnings('DATABASE_URL', config.database)];
  return { type: 'config', config, warnings };
}

/** In limits, 0 means no limit. */
function configFrom(values: SettingValues, folder: string) {
  const publicUrl = new URL(values.PUBLIC_URL ?? `http://localhost:${values.PORT}`);
  const basePath = publicUrl.pathname.replace(/\/$/, '');
  return {
    port: values.PORT,
    // Fastify opens two servers for "localhost", but connections are counted and drained on only one.
    host: values.HOST === 'localhost' ? '127.0.0.1' : values.HOST,
    /** Has no final slash. */
    publicUrl: publicUrl.origin + basePath,
    basePath,
    /** Turns on HSTS and Secure, prefixed cookies. */
    secure: publicUrl.protocol === 'https:',
    database: resolveDatabase(values.DATABASE_URL, folder),
    mail: mailConfigOf(values, folder),
    /** Null means the product title at the host of PUBLIC_URL, which mail servers will distrust. */
    mailFrom: values.MAIL_FROM ?? null,
    /** Domain of the return paths. Null means the e-mail address of MAIL_FROM. */
    bounceDomain: values.BOUNCE_DOMAIN ?? null,
    /** Credentials of each mail provider's events. Without them, its events are refused. */
    mailEvents: {
      sesTopic: values.MAIL_EVENTS_SES_TOPIC ?? null,
      postmarkLogin: values.MAIL_EVENTS_POSTMARK_LOGIN ?? null,
      mailgunKey: values.MAIL_EVENTS_MAILGUN_KEY ?? null,
      sendgridKey: values.MAIL_EVENTS_SENDGRID_KEY ?? null,
    },
    /** Newest first. If empty, the server creates one in the data folder (SQLite only). */
    appSecrets: values.APP_SECRET ?? [],
    /** The proxies whose X-Forwarded-For is trusted: false, a number of hops, or networks. */
    trustProxy: values.TRUST_PROXY,
    logLevel: values.LOG_LEVEL,
    limits: {
      leadsPerIpPerHour: values.LEADS_PER_IP_PER_HOUR,
      leadsPerEmailPerHour: values.LEADS_PER_EMAIL_PER_HOUR,
      verifyPerIpPerHour: values.VERIFY_PER_IP_PER_HOUR,
      codeAttempts: values.CODE_ATTEMPTS,
    },
    codeTtlSeconds: values.CODE_TTL_SECONDS,
    resendSeconds: values.RESEND_SECONDS,
    breaker: {
      codesPerMinute: values.BREAKER_CODES_PER_MINUTE,
      unenteredPercent: values.BREAKER_UNENTERED_PERCENT,
    },
    /** 0 means forever. */
    retention: {
      unverifiedDays: values.RETENTION_DAYS,
      mailDays: values.MAIL_RETENTION_DAYS ?? values.RETENTION_DAYS,
    },
    funnelCounting: values.FUNNEL_COUNTING === 'on',
    timeZone: values.TIME_ZONE ?? serverTimeZone(),
    operatorEmails: values.OPERATOR_EMAIL ?? [],
    guideEmail: values.GUIDE_EMAIL,
    newLeadEmail: values.NEW_LEAD_EMAIL,
    /** Milliseconds after midnight in the time zone. */
    newLeadEmailAtMs: values.NEW_LEAD_EMAIL_AT,
    freeMail: values.FREE_MAIL,
    disposableMail: values.DISPOSABLE_MAIL,
    webhooks: {
      // Removes duplicates, so that a URL given twice gets each event once.
      urls: [...new Set((values.WEBHOOK_URLS ?? []).map((text) => new URL(text).href))],
      events: values.WEBHOOK_EVENTS ?? LEAD_EVENT_TYPES,
      /** Newest first. If empty, derived from APP_SECRET. */
      secrets: values.WEBHOOK_SECRET ?? [],
      allowPrivate: values.WEBHOOK_ALLOW_PRIVATE === 'yes',
    },
    desk: deskConfigOf(values),
    metrics: values.METRICS_PORT === 0 ? null : { port: values.METRICS_PORT, host: values.METRICS_HOST },
  };
}

/** Some machines have no time zone, or one that Node doesn't know. With TZ=:/etc/localtime, its name is undefined. */
export function serverTimeZone(): string {
  const { timeZone }: { timeZone?: string } = new Intl.DateTimeFormat().resolvedOptions();
  return timeZone !== undefined && isTimeZone(timeZone) ? timeZone : 'UTC';
}

function mailConfigOf(values: SettingValues, folder: string): MailConfig {
  const { SMTP_URL, DKIM_DOMAIN, DKIM_SELECTOR, DKIM_PRIVATE_KEY_FILE } = values;
  if (SMTP_URL === undefined) return { kind: 'files' };
  const dkim =
    DKIM_DOMAIN !== undefined && DKIM_SELECTOR !== undefined && DKIM_PRIVATE_KEY_FILE !== undefined
      ? {
          domainName: DKIM_DOMAIN,
          keySelector: DKIM_SELECTOR,
          privateKeyFile: path.resolve(folder, DKIM_PRIVATE_KEY_FILE),
        }
      : null;
  return { kind: 'smtp', url: SMTP_URL, dkim };
}

function deskConfigOf({ DESK_URL, DESK_PORT, DESK_PEOPLE }: SettingValues): DeskConfig | null {
  return DESK_URL === undefined ? null : { url: DESK_URL, port: DESK_PORT, people: DESK_PEOPLE ?? new Map() };
}
