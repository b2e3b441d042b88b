import { isIP } from 'node:net';

import { addressRefusal, bareHost } from '#server/platform/ip-addresses.ts';
import { isPostgres } from '#server/settings/connection-urls.ts';
import { SECRET_MIN_LENGTH, type Environment } from '#server/settings/setting-values.ts';
import type { SettingName, SettingValues } from '#server/settings/settings-table.ts';

export type GivenSettings = {
  readonly values: Partial<SettingValues>;
  readonly texts: Readonly<Partial<Record<SettingName, string>>>;
  readonly env: Environment;
};

type Rule = {
  readonly broken: (given: GivenSettings) => boolean;
  /** The message begins with the setting to change. */
  readonly message: string | ((given: GivenSettings) => string);
};

const DKIM_NAMES = ['DKIM_DOMAIN', 'DKIM_SELECTOR', 'DKIM_PRIVATE_KEY_FILE'] as const;

const RULES: readonly Rule[] = [
  {
    broken: (given) => isSamePort(pagePort(given), given.values.METRICS_PORT),
    message: ({ values }) =>
      `METRICS_PORT must differ from PORT, because both would listen on ${values.PORT}.`,
  },
  {
    broken: ({ texts }) => isPostgres(texts.DATABASE_URL ?? '') && texts.APP_SECRET === undefined,
    message: `APP_SECRET must be set when DATABASE_URL names PostgreSQL, because all processes need the same secret. Use at least ${SECRET_MIN_LENGTH} random characters.`,
  },
  {
    broken: ({ values: { RETENTION_DAYS: days = 0, MAIL_RETENTION_DAYS: mailDays = days } }) =>
      days > 0 && (mailDays === 0 || mailDays > days),
    message:
      'MAIL_RETENTION_DAYS must not be more than RETENTION_DAYS, because an e-mail is not kept for longer than its code.',
  },
  {
    broken: (given) =>
      given.values.WEBHOOK_ALLOW_PRIVATE !== 'yes' &&
      webhookUrls(given).some(({ protocol }) => protocol === 'http:'),
    message:
      'WEBHOOK_URLS must begin with https. Set WEBHOOK_ALLOW_PRIVATE=yes to allow http in your own network.',
  },
  {
    broken: (given) => webhookUrls(given).some(({ hostname }) => isNeverCalled(hostname, given)),
    // The message omits the URL, because anyone who knows it can send to it.
    message:
      'WEBHOOK_URLS contains a forbidden IP address. Set WEBHOOK_ALLOW_PRIVATE=yes to allow private IP addresses. Link-local, multicast, reserved and cloud metadata addresses are never allowed.',
  },
  {
    broken: ({ values, texts }) =>
      texts.OPERATOR_EMAIL === undefined && (values.NEW_LEAD_EMAIL ?? 'off') !== 'off',
    message: 'OPERATOR_EMAIL must also be set, because NEW_LEAD_EMAIL reports new leads to those addresses.',
  },
  {
    broken: ({ texts }) =>
      texts.DESK_URL === undefined && (texts.DESK_PEOPLE !== undefined || texts.DESK_PORT !== undefined),
    message: ({ texts }) =>
      `DESK_URL must also be set for ${(['DESK_PEOPLE', 'DESK_PORT'] as const).filter((name) => texts[name] !== undefined).join(' and ')} to have an effect.`,
  },
  {
    broken: ({ texts }) => texts.DESK_URL !== undefined && texts.DESK_PEOPLE === undefined,
    message:
      'DESK_PEOPLE must also be set. List the people who may sign in at DESK_URL, such as ada@example.com:all, bob@example.com.',
  },
  {
    broken: ({ values, texts }) => /^https:/i.test(texts.DESK_URL ?? '') && values.TRUST_PROXY === false,
    message:
      'TRUST_PROXY must be set when DESK_URL uses https, because everyone behind the proxy would count as one network. Set TRUST_PROXY to 1 or to the proxy’s network.',
  },
  {
    broken: (given) => {
      const desk = URL.parse(given.values.DESK_URL ?? '');
      const page = URL.parse(given.texts.PUBLIC_URL ?? `http://localhost:${pagePort(given)}`);
      if (desk === null || page === null) return false;
      return desk.origin === page.origin || (desk.protocol === 'https:' && desk.hostname === page.hostname);
    },
    message:
      'DESK_URL must have a different host from PUBLIC_URL, because browsers send cookies to all ports of a host.',
  },
  {
    broken: (given) => hasDesk(given) && isSamePort(given.values.DESK_PORT, pagePort(given)),
    message: ({ values }) =>
      `DESK_PORT must differ from PORT, because both would listen on ${values.DESK_PORT}.`,
  },
  {
    broken: (given) => hasDesk(given) && isSamePort(given.values.DESK_PORT, given.values.METRICS_PORT),
    message: ({ values }) =>
      `DESK_PORT must differ from METRICS_PORT, because both would listen on ${values.DESK_PORT}.`,
  },
  {
    broken: (given) => [1, 2].includes(missingDkim(given).length),
    message: (given) =>
      `${missingDkim(given).join(' and ')} must also be set, because signing needs all of ${DKIM_NAMES.join(', ')}.`,
  },
];

export const mistakesAcrossSettings = (given: GivenSettings): string[] =>
  RULES.filter(({ broken }) => broken(given)).map(({ message }) =>
    typeof message === 'string' ? message : message(given),
  );

/** Returns 0 if systemd listens instead. */
const pagePort = ({ values, env }: GivenSettings): number => (env['LISTEN_FDS'] ? 0 : (values.PORT ?? 0));

const hasDesk = ({ texts }: GivenSettings): boolean => texts.DESK_URL !== undefined;

const isSamePort = (one = 0, other = 0): boolean => one > 0 && one === other;

const webhookUrls = ({ values }: GivenSettings): URL[] =>
  (values.WEBHOOK_URLS ?? []).map((text) => new URL(text));

/** Names are checked when they are called. */
function isNeverCalled(hostname: string, { values }: GivenSettings): boolean {
  const address = bareHost(hostname);
  const allowPrivate = values.WEBHOOK_ALLOW_PRIVATE === 'yes';
  return isIP(address) !== 0 && addressRefusal(address, { allowPrivate, allowPublic: true }) !== null;
}

const missingDkim = ({ texts }: GivenSettings): string[] =>
  DKIM_NAMES.filter((name) => texts[name] === undefined);
