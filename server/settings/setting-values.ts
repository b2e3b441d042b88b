// Messages about mistakes never repeat the text, which may be a password. They follow the name of the setting.
import { createPublicKey } from 'node:crypto';
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

import { LEAD_EVENT_TYPES, type LeadEventType } from '#server/platform/lead-event-types.ts';
import { isLoopback } from '#server/platform/ip-addresses.ts';
import { isTimeZone } from '#shared/days.ts';
import { asciiAddress, normaliseEmail } from '#shared/lead.ts';
import { orNull } from '#shared/or-null.ts';
import { isSingleLine } from '#shared/typed-input.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

type ReadValue<Value> = { readonly value: Value } | { readonly mistakes: readonly string[] };

/** Receives a text that is never empty, and the environment, because some defaults depend on other variables. */
export type ReadSetting<Value> = (text: string, env: Environment) => ReadValue<Value>;

export const valueOf =
  <Value>(read: (text: string) => Value | null, must: string): ReadSetting<Value> =>
  (text) => {
    const value = read(text);
    return value === null ? { mistakes: [must] } : { value };
  };

export const unlessWrong = <Value>(value: Value, mistakes: readonly string[]): ReadValue<Value> =>
  mistakes.length > 0 ? { mistakes } : { value };

export const textThat = (isValid: (text: string) => boolean, must: string): ReadSetting<string> =>
  valueOf((text) => (isValid(text) ? text : null), must);

export const anyText: ReadSetting<string> = (text) => ({ value: text });

export const oneOf = <const Name extends string>(...names: readonly Name[]): ReadSetting<Name> =>
  valueOf(
    (text) => names.find((name) => name === text) ?? null,
    `must be ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`,
  );

export const wholeNumber = (min: number, max: number): ReadSetting<number> =>
  valueOf((text) => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    return value >= min && value <= max ? value : null;
  }, `must be a whole number from ${min} to ${max}`);

export const listOf = (isValid: (part: string) => boolean, must: string): ReadSetting<readonly string[]> =>
  valueOf((text) => {
    const parts = partsOf(text);
    return parts.length > 0 && parts.every(isValid) ? parts : null;
  }, must);

const partsOf = (text: string): string[] => text.split(/[\s,]+/).filter((part) => part !== '');

/** The breaker compares with the previous eight days, and daily limits look back one more. */
const RETENTION_MIN_DAYS = 9;

export const retentionDays: ReadSetting<number> = valueOf((text) => {
  const days = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  return days === 0 || days >= RETENTION_MIN_DAYS ? days : null;
}, `must be a whole number of days from ${RETENTION_MIN_DAYS}, or 0 to keep data forever, because limits and the breaker need the data of that many days`);

export const timeOfDayMs: ReadSetting<number> = valueOf((text) => {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  return hours === undefined ? null : (Number(hours) * 60 + Number(minutes)) * 60_000;
}, 'must be a time of day, such as 07:00');

export const isWebUrl = (text: string): boolean =>
  ['https:', 'http:'].includes(URL.parse(text)?.protocol ?? '');

/** Requests are compared with the path literally, so it must have only one spelling. */
const PAGE_URL = /^https?:\/\/[^/\\?#@]+(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*\/?$/;

export const pageUrl: ReadSetting<string> = (text) => {
  if (!isWebUrl(text)) return { mistakes: ['must be a URL such as https://guide.example.com'] };
  if (PAGE_URL.test(text)) return { value: text };
  return {
    mistakes: [
      'must be only the URL of the page, such as https://guide.example.com or https://example.com/guide, without a password, "?" or "#". The path may only contain the letters a to z, digits, "-", "_", "." and "~"',
    ],
  };
};

const ORIGIN = /^https?:\/\/[^/?#@]+\/?$/i;

export const deskUrl: ReadSetting<string> = (text) => {
  const url = URL.parse(text);
  if (url === null || !isWebUrl(text))
    return { mistakes: ['must be a URL such as https://desk.example.com'] };
  const mistakes = [
    ORIGIN.test(text)
      ? ''
      : 'must be only the URL of a host, such as https://desk.example.com, without a path, "?" or "#"',
    url.protocol === 'https:' || isLoopback(url.hostname)
      ? ''
      : 'must begin with https. Only URLs of this machine may use http, such as http://localhost:3001',
  ].filter((mistake) => mistake !== '');
  return unlessWrong(url.origin, mistakes);
};

export const trustedProxies: ReadSetting<false | number | readonly string[]> = valueOf((text) => {
  if (text === 'off') return false;
  if (/^\d{1,2}$/.test(text)) return Number(text) === 0 ? false : Number(text);
  const networks = text.split(',').map((part) => part.trim());
  return networks.every(isNetwork) ? networks : null;
}, 'must be a number of proxies (1), a list of networks (10.0.0.0/8, 2001:db8::/32) or off');

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i;

/** Accepts local hosts too, as in root@localhost. */
function isOperatorAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  return LOCAL_PART.test(text.slice(0, Math.max(at, 0))) && HOST_NAME.test(domainToASCII(text.slice(at + 1)));
}

/** Removes duplicates, so that an e-mail address given twice gets each mail once. */
export const operatorAddresses: ReadSetting<readonly string[]> = (text) => {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.at(-1) === '' && parts.length > 1) parts.pop();
  const must =
    'must be e-mail addresses separated by commas, such as you@example.com, ada@example.com, without names, "mailto:" or ";"';
  const wrong = parts.flatMap((part, index) =>
    isOperatorAddress(part) ? [] : [`${must}. Entry ${index + 1} is not valid`],
  );
  const uniqueAddresses = new Map(parts.map((part) => [normaliseEmail(part), part]));
  return unlessWrong([...uniqueAddresses.values()], wrong);
};

export type Mailbox = { readonly name: string; readonly address: string };

/** Mail programs do not treat typographic quotes as quotes. */
const CURLY_QUOTES = /^[“”„‘’‚].*[“”‘’]\s*(?:<[^<>]*>)?$/;

export const mailbox: ReadSetting<Mailbox> = (text) => {
  if (CURLY_QUOTES.test(text))
    return {
      mistakes: ['contains curly quotes. Write the name without quotes, such as Guide <guide@example.com>'],
    };
  const [, typed = '', address = text] = /^([^<>]*)<([^<>]*)>$/.exec(text) ?? [];
  const [, quoted] = /^"((?:[^"\\]|\\.)*)"$/.exec(typed.trim()) ?? [];
  const value = {
    name: quoted?.replaceAll(/\\(.)/g, '$1') ?? typed.trim(),
    address: address.trim(),
  };
  if (isSingleLine(value.name) && isOperatorAddress(value.address)) return { value };
  return {
    mistakes: [
      'must be a single e-mail address with an optional name, such as guide@example.com or Guide <guide@example.com>, without "mailto:" or ";"',
    ],
  };
};

/** Leaves room for the local part in an e-mail address of 254 characters. */
const BOUNCE_DOMAIN_MAX_LENGTH = 190;
const BOUNCE_DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/i;

export const bounceDomain: ReadSetting<string> = valueOf(
  (text) => (BOUNCE_DOMAIN.test(text) && text.length <= BOUNCE_DOMAIN_MAX_LENGTH ? text.toLowerCase() : null),
  'must be a domain, such as bounces.example.com',
);

export function isKeyOnP256(text: string): boolean {
  const key = orNull(() =>
    createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' }),
  );
  return key?.asymmetricKeyDetails?.namedCurve === 'prime256v1';
}

export const timeZone: ReadSetting<string> = textThat(
  isTimeZone,
  'must be the name of a time zone, such as Europe/Berlin or America/New_York',
);

export const SECRET_MIN_LENGTH = 32;

export const appSecrets: ReadSetting<readonly string[]> = valueOf((text) => {
  const secrets = text.split(',').map((secret) => secret.trim());
  return secrets.every((secret) => secret.length >= SECRET_MIN_LENGTH) ? secrets : null;
}, `must have at least ${SECRET_MIN_LENGTH} random characters (separate several secrets with commas, newest first)`);

/** Required by Standard Webhooks. */
const WEBHOOK_SECRET_BYTES = { min: 24, max: 64 } as const;

export const webhookSecrets: ReadSetting<readonly string[]> = listOf((text) => {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  if (base64 === undefined || base64.length % 4 !== 0) return false;
  const { length } = Buffer.from(base64, 'base64');
  return length >= WEBHOOK_SECRET_BYTES.min && length <= WEBHOOK_SECRET_BYTES.max;
}, `must be whsec_ followed by ${WEBHOOK_SECRET_BYTES.min} to ${WEBHOOK_SECRET_BYTES.max} random bytes in base64 (separate several secrets with spaces, newest first)`);

export const webhookEvents: ReadSetting<readonly LeadEventType[]> = (text) => {
  const parts = partsOf(text);
  const types = LEAD_EVENT_TYPES.filter((type) => parts.includes(type));
  const must = `must be types of events separated by commas: ${LEAD_EVENT_TYPES.join(', ')}`;
  const unknown = parts.flatMap((part, index) =>
    LEAD_EVENT_TYPES.some((type) => type === part) ? [] : [`${must}. Entry ${index + 1} is not one of them`],
  );
  return unlessWrong(types, parts.length === 0 ? [must] : unknown);
};

export type DeskUser = { readonly role: 'read' | 'all'; readonly passkeyOnly: boolean };

const DESK_USER = /^([^\s<>@:]+@[^\s<>@:]+)(?::(read|all))?(:passkey)?$/;

export const deskUsers: ReadSetting<ReadonlyMap<string, DeskUser>> = (text) => {
  const must =
    'must be a list of different e-mail addresses, such as ada@example.com:all, bob@example.com (the second may only read)';
  const users = new Map<string, DeskUser>();
  const wrong: string[] = [];
  const parts = partsOf(text);
  for (const [index, part] of parts.entries()) {
    const [, address = '', role = 'read', passkey] = DESK_USER.exec(part) ?? [];
    const email = normaliseEmail(address);
    if (asciiAddress(address) === null) wrong.push(`${must}. Entry ${index + 1} is not valid`);
    else if (users.has(email)) wrong.push(`${must}. Entry ${index + 1} repeats an address`);
    else users.set(email, { role: role as DeskUser['role'], passkeyOnly: passkey !== undefined });
  }
  return unlessWrong(users, parts.length === 0 ? [must] : wrong);
};
