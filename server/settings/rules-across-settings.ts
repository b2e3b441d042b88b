import { isIP } from 'node:net';

import { addressRefusal, bareHost } from '#server/platform/ip-addresses.ts';
import { isPostgres } from '#server/settings/connection-urls.ts';
import { SECRET_MIN_LENGTH, type Environment } from '#server/settings/setting-values.ts';
import type { SettingName, SettingValues } from '#server/settings/settings-table.ts';

type GivenSettings = {
  readonly values: Partial<SettingValues>;
  readonly texts: Readonly<Partial<Record<SettingName, string>>>;
  readonly env: Environment;
};

const DKIM_NAMES = ['DKIM_DOMAIN', 'DKIM_SELECTOR', 'DKIM_PRIVATE_KEY_FILE'] as const;

/** @returns sentences that begin with the setting to change */
export function mistakesAcrossSettings({ values, texts, env }: GivenSettings): string[] {
  const { RETENTION_DAYS: days = 0, MAIL_RETENTION_DAYS: mailDays = days } = values;
  // With LISTEN_FDS, systemd listens instead.
  const pagePort = env['LISTEN_FDS'] ? 0 : (values.PORT ?? 0);
  const webhookUrls = (values.WEBHOOK_URLS ?? []).map((text) => new URL(text));
  const allowPrivate = values.WEBHOOK_ALLOW_PRIVATE === 'yes';
  const hasDesk = texts.DESK_URL !== undefined;
  const deskNames = (['DESK_PEOPLE', 'DESK_PORT'] as const).filter((name) => texts[name] !== undefined);
  const missingDkim = DKIM_NAMES.filter((name) => texts[name] === undefined);
  return [
    isSamePort(pagePort, values.METRICS_PORT) &&
      `METRICS_PORT must differ from PORT, because both would listen on ${values.PORT}.`,
    isPostgres(texts.DATABASE_URL ?? '') &&
      texts.APP_SECRET === undefined &&
      `APP_SECRET must be set when DATABASE_URL names PostgreSQL, because all processes need the same secret. Use at least ${SECRET_MIN_LENGTH} random characters.`,
    days > 0 &&
      (mailDays === 0 || mailDays > days) &&
      'MAIL_RETENTION_DAYS must not be more than RETENTION_DAYS, because an e-mail is not kept for longer than its code.',
    !allowPrivate &&
      webhookUrls.some(({ protocol }) => protocol === 'http:') &&
      'WEBHOOK_URLS must begin with https. Set WEBHOOK_ALLOW_PRIVATE=yes to allow http in your own network.',
    // The sentence omits the URL, because anyone who knows it can send to it.
    webhookUrls.some(({ hostname }) => isForbiddenHost(hostname, allowPrivate)) &&
      'WEBHOOK_URLS contains a forbidden IP address. Set WEBHOOK_ALLOW_PRIVATE=yes to allow private IP addresses. Link-local, multicast, reserved and cloud metadata addresses are never allowed.',
    texts.OPERATOR_EMAIL === undefined &&
      (values.NEW_LEAD_EMAIL ?? 'off') !== 'off' &&
      'OPERATOR_EMAIL must also be set, because NEW_LEAD_EMAIL reports new leads to those addresses.',
    !hasDesk &&
      deskNames.length > 0 &&
      `DESK_URL must also be set for ${deskNames.join(' and ')} to have an effect.`,
    hasDesk &&
      texts.DESK_PEOPLE === undefined &&
      'DESK_PEOPLE must also be set. List the people who may sign in at DESK_URL, such as ada@example.com:all, bob@example.com.',
    /^https:/i.test(texts.DESK_URL ?? '') &&
      values.TRUST_PROXY === false &&
      'TRUST_PROXY must be set when DESK_URL uses https, because everyone behind the proxy would count as one network. Set TRUST_PROXY to 1 or to the proxy’s network.',
    shareCookies(values.DESK_URL ?? '', texts.PUBLIC_URL ?? `http://localhost:${pagePort}`) &&
      'DESK_URL must have a different host from PUBLIC_URL, because browsers send cookies to all ports of a host.',
    hasDesk &&
      isSamePort(values.DESK_PORT, pagePort) &&
      `DESK_PORT must differ from PORT, because both would listen on ${values.DESK_PORT}.`,
    hasDesk &&
      isSamePort(values.DESK_PORT, values.METRICS_PORT) &&
      `DESK_PORT must differ from METRICS_PORT, because both would listen on ${values.DESK_PORT}.`,
    [1, 2].includes(missingDkim.length) &&
      `${missingDkim.join(' and ')} must also be set, because signing needs all of ${DKIM_NAMES.join(', ')}.`,
  ].filter((mistake) => mistake !== false);
}

const isSamePort = (one = 0, other = 0): boolean => one > 0 && one === other;

/** Checks only IP addresses. Host names are checked when they are called. */
function isForbiddenHost(hostname: string, allowPrivate: boolean): boolean {
  const address = bareHost(hostname);
  return isIP(address) !== 0 && addressRefusal(address, { allowPrivate, allowPublic: true }) !== null;
}

/** Page and desk may share a host over http, so that both can run on this machine. */
function shareCookies(deskUrl: string, pageUrl: string): boolean {
  const [desk, page] = [URL.parse(deskUrl), URL.parse(pageUrl)];
  if (desk === null || page === null) return false;
  return desk.origin === page.origin || (desk.protocol === 'https:' && desk.hostname === page.hostname);
}
