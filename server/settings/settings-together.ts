// What is wrong with settings only in view of one another.
import { isIP } from 'node:net';

import { isLoopback } from '#server/platform/loopback.ts';
import { addressRefusal } from '#server/platform/public-addresses.ts';
import { BLOCKED_PORTS, shareAddress } from '#server/settings/addresses-in-settings.ts';
import { isPostgres, postgresComplaints } from '#server/settings/database-setting.ts';
import {
  DEFAULT_DESK_PORT,
  DEFAULT_HOST,
  DEFAULT_PORT,
  listIn,
  RETENTION_DAYS,
  SECRET_MIN_LENGTH,
} from '#server/settings/setting-rules.ts';

type Present = Readonly<Record<string, string>>;

/**
 * Finds settings that contradict each other, or that need another one.
 * @param present the settings that are set, unparsed
 * @param env the environment, for what pg and systemd set in it
 * @returns one sentence for each complaint
 */
export const complaintsAcrossSettings = (
  present: Present,
  env: Readonly<Record<string, string | undefined>>,
): string[] => [
  ...portComplaints(present, env),
  ...postgresComplaints('DATABASE_URL', present['DATABASE_URL'] ?? '', env),
  ...secretComplaints(present),
  ...retentionComplaints(present),
  ...webhookComplaints(present),
  ...operatorComplaints(present),
  ...deskComplaints(present, env),
  ...dkimComplaints(present),
  ...addressComplaints(present),
];

function portComplaints(present: Present, env: Readonly<Record<string, string | undefined>>): string[] {
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

const secretComplaints = (present: Present): string[] =>
  isPostgres(present['DATABASE_URL'] ?? '') && !present['APP_SECRET']
    ? [
        `APP_SECRET must be set when DATABASE_URL names PostgreSQL: every process needs the same one, of at least ${SECRET_MIN_LENGTH} random characters.`,
      ]
    : [];

function retentionComplaints(present: Present): string[] {
  const days = Number(present['RETENTION_DAYS'] ?? RETENTION_DAYS);
  const mailDays = Number(present['MAIL_RETENTION_DAYS'] ?? days);
  return days > 0 && (mailDays === 0 || mailDays > days)
    ? [
        'MAIL_RETENTION_DAYS must not be more than RETENTION_DAYS: a mail is not kept for longer than its code.',
      ]
    : [];
}

/** The complaints do not repeat the addresses: anyone who knows one can send to it. */
function webhookComplaints(present: Present): string[] {
  const urls = listIn(present['WEBHOOK_URLS'] ?? '').flatMap((text) => URL.parse(text) ?? []);
  const allowPrivate = present['WEBHOOK_ALLOW_PRIVATE'] === 'yes';
  const complaints: string[] = [];
  if (!allowPrivate && urls.some(({ protocol }) => protocol === 'http:')) {
    complaints.push(
      'WEBHOOK_URLS must begin with https. One of your own network may be http when WEBHOOK_ALLOW_PRIVATE=yes.',
    );
  }
  if (urls.some((url) => isRefusedAddress(url, allowPrivate))) {
    complaints.push(
      'WEBHOOK_URLS names an address that is not called. One of your own network is when WEBHOOK_ALLOW_PRIVATE=yes; link-local, multicast and reserved ones, and those of clouds’ metadata, never are.',
    );
  }
  return complaints;
}

/** Whether a URL holds an IP address that is never called. Names are checked when they are called. */
function isRefusedAddress({ hostname }: URL, allowPrivate: boolean): boolean {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(address) !== 0 && addressRefusal(address, { allowPrivate, allowPublic: true }) !== null;
}

const operatorComplaints = (present: Present): string[] =>
  !present['OPERATOR_EMAIL'] && (present['NEW_LEAD_EMAIL'] ?? 'off') !== 'off'
    ? ['OPERATOR_EMAIL must be set too: NEW_LEAD_EMAIL says when new leads are reported to it.']
    : [];

/** The desk in a browser: its origin and port are not the page's, and there are people who may sign in. */
function deskComplaints(present: Present, env: Readonly<Record<string, string | undefined>>): string[] {
  const { DESK_URL: text, DESK_PEOPLE: people } = present;
  if (text === undefined) {
    const set = ['DESK_PEOPLE', 'DESK_PORT'].filter((name) => present[name] !== undefined);
    return set.length > 0
      ? [
          `DESK_URL must be set too: ${set.join(' and ')} ${set.length > 1 ? 'mean' : 'means'} nothing without it.`,
        ]
      : [];
  }
  const complaints: string[] = [];
  if (people === undefined)
    complaints.push(
      'DESK_PEOPLE must be set too: the addresses that may sign in at DESK_URL, such as ada@example.com:all, bob@example.com.',
    );
  const url = URL.parse(text);
  if (url === null) return complaints;
  if (!ORIGIN.test(text))
    complaints.push(
      'DESK_URL must be the address of a host alone, such as https://desk.example.com: no path, no "?" and no "#".',
    );
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    complaints.push(
      'DESK_URL must begin with https. Only an address of this machine may be http, such as http://localhost:3001.',
    );
  if (url.protocol === 'https:' && ['off', '0', undefined].includes(present['TRUST_PROXY']))
    complaints.push(
      'TRUST_PROXY must be set when DESK_URL is https: a proxy stands in front of the desk, and everyone would count as one network. Set TRUST_PROXY=1, or the proxy’s network.',
    );
  if (BLOCKED_PORTS.has(Number(url.port)))
    complaints.push(`DESK_URL must not name port ${url.port}, which no browser opens.`);
  const port = env['LISTEN_FDS'] ? 0 : Number(present['PORT'] ?? DEFAULT_PORT);
  const publicUrl = URL.parse(present['PUBLIC_URL'] ?? `http://localhost:${port}`);
  const isSameHost = url.protocol === 'https:' && publicUrl?.hostname === url.hostname;
  if (publicUrl?.origin === url.origin || isSameHost)
    complaints.push(
      'DESK_URL must be another host than that of PUBLIC_URL: a browser sends the cookies of a host to all of it, whatever the port.',
    );
  const deskPort = Number(present['DESK_PORT'] ?? DEFAULT_DESK_PORT);
  const host = present['HOST'] ?? DEFAULT_HOST;
  const metricsPort = Number(present['METRICS_PORT'] ?? 0);
  if (deskPort > 0 && deskPort === port)
    complaints.push(`DESK_PORT must be another number than PORT: both would listen on ${port}.`);
  else if (
    deskPort > 0 &&
    deskPort === metricsPort &&
    shareAddress(host, present['METRICS_HOST'] ?? DEFAULT_HOST)
  )
    complaints.push(`DESK_PORT must be another number than METRICS_PORT: both would listen on ${deskPort}.`);
  return complaints;
}

/** A scheme, a host and perhaps a port, without a login. */
const ORIGIN = /^https?:\/\/[^/?#@]+\/?$/i;

const DKIM_NAMES = ['DKIM_DOMAIN', 'DKIM_SELECTOR', 'DKIM_PRIVATE_KEY_FILE'] as const;

function dkimComplaints(present: Present): string[] {
  const missing = DKIM_NAMES.filter((name) => !present[name]);
  return missing.length > 0 && missing.length < DKIM_NAMES.length
    ? [`${missing.join(' and ')} must be set too: signing needs all of ${DKIM_NAMES.join(', ')}.`]
    : [];
}

/** A path is compared with requests to the letter, so it has no character that could be written in two ways. */
const PUBLIC_ADDRESS = /^https?:\/\/[^/?#]+(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*\/?$/;

const addressComplaints = (present: Present): string[] =>
  present['PUBLIC_URL'] && !PUBLIC_ADDRESS.test(present['PUBLIC_URL'])
    ? [
        'PUBLIC_URL must be the address of the page alone, such as https://guide.example.com or https://example.com/guide: no "?", no "#", and in its path only letters from a to z, digits, "-", "_", "." and "~".',
      ]
    : [];
