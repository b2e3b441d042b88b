// Visitors who become leads over HTTP and record the server's promises. They retry more patiently than people.
import { setTimeout } from 'node:timers/promises';

import { API } from '#shared/api.ts';
import { codeIn, type Inbox } from '#testing/inbox.ts';
import { cookieOf } from '#testing/post-json.ts';
import { filledForm } from '#testing/server-under-test.ts';

export type HttpResponse = {
  readonly status: number;
  readonly body: string;
  readonly cookie: string;
  readonly headers: Headers;
};

export const post = (url: string, body: object, cookie = '', clientAddress = ''): Promise<HttpResponse> =>
  send(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(cookie && { cookie }),
      ...(clientAddress && { 'x-forwarded-for': clientAddress }),
    },
    body: JSON.stringify(body),
  });

export async function send(url: string, request: RequestInit = {}): Promise<HttpResponse> {
  const response = await fetch(url, { ...request, signal: AbortSignal.timeout(30_000) });
  const { status, headers } = response;
  return { status, body: await response.text(), cookie: cookieOf(response), headers };
}

export type Ledger = {
  /** 202: a code will be mailed. */
  readonly acknowledged: Set<string>;
  /** 200 for the right code: there is a lead. */
  readonly verified: Set<string>;
  /** The mail arrived, but no attempt got a 200. Each e-mail address with the last `status: body`. */
  readonly unverified: Map<string, string>;
  /** No mail within MAIL_PATIENCE_MS. */
  readonly unmailed: Set<string>;
  readonly statusCounts: Map<string, number>;
  /** Requests without a response by cause, and 5xx by error code. */
  readonly failed: Map<string, number>;
  /** 5xx without an error message, and 503 without Retry-After. */
  readonly badErrors: string[];
  /** `at`: milliseconds since 1970. */
  readonly timings: { readonly at: number; readonly afterMs: number; readonly status: string }[];
};

export const newLedger = (): Ledger => ({
  acknowledged: new Set(),
  verified: new Set(),
  unverified: new Map(),
  unmailed: new Set(),
  statusCounts: new Map(),
  failed: new Map(),
  badErrors: [],
  timings: [],
});

const NEVER_ABORTED = new AbortController().signal;
const PAUSE_MS = 50;
/** A code expires after 600 s; later mail counts as lost. */
const MAIL_PATIENCE_MS = 240_000;

let lastNumber = 0;
export const newEmail = (): string => `visitor-${process.pid}-${(lastNumber += 1)}@example.com`;

/** @param n counts from 0 @param first first octet of the IP address */
export const ipAddress = (n: number, first = 10): string =>
  `${first}.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
export const newIpAddress = (): string => ipAddress((lastNumber += 1));

export const sumOf = (counts: ReadonlyMap<string, number>): number =>
  counts.values().reduce((sum, count) => sum + count, 0);
export const describeCounts = (counts: ReadonlyMap<string | number, number>): string =>
  Array.from(counts, ([what, count]) => `${what}: ${count}`).join(', ');

/** Unwraps the cause, because fetch() wraps it in another error. */
function failureOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? String('code' in cause ? cause.code : cause.name) : 'unknown';
}

/**
 * Sends a request once and records its result.
 * @param what files need a 200
 * @returns null without a response
 */
export async function attempt(
  ledger: Ledger,
  request: () => Promise<HttpResponse>,
  what: 'call' | 'file' = 'call',
): Promise<HttpResponse | null> {
  let response: HttpResponse | null = null;
  let failure = '';
  const sentAt = Date.now();
  try {
    response = await request();
    if (response.status >= 500 || (what === 'file' && response.status !== 200))
      failure = `${response.status} ${response.headers.get('x-error-code') ?? 'without a code'}`;
  } catch (error) {
    failure = failureOf(error);
  }
  const status = response === null ? 'no response' : String(response.status);
  ledger.statusCounts.set(status, (ledger.statusCounts.get(status) ?? 0) + 1);
  ledger.timings.push({ at: Date.now(), afterMs: Date.now() - sentAt, status });
  if (failure !== '') {
    if (what === 'file') failure += ' for a file';
    ledger.failed.set(failure, (ledger.failed.get(failure) ?? 0) + 1);
  }
  return response;
}

async function retryOnServerError(
  ledger: Ledger,
  request: () => Promise<HttpResponse>,
  signal: AbortSignal,
): Promise<HttpResponse | null> {
  while (!signal.aborted) {
    const response = await attempt(ledger, request);
    if (response !== null) {
      const { status, body, headers } = response;
      if (status < 500) return response;
      if (!/^[A-Z].{10,}\.$/.test(body)) ledger.badErrors.push(`${status}: ${body}`);
      if (status === 503 && !headers.has('retry-after')) ledger.badErrors.push('503 without Retry-After');
    }
    await setTimeout(PAUSE_MS);
  }
  return null;
}

export type WalkOptions = {
  readonly url: string;
  readonly inbox: Pick<Inbox, 'waitForMail'>;
  readonly ledger: Ledger;
  readonly onAccepted?: (email: string, cookie: string) => Promise<void>;
  readonly onVerified?: (cookie: string) => Promise<void>;
};

/** @param signal stops further requests; a visitor whose form was accepted still finishes */
export async function walk(
  { url, inbox, ledger, onAccepted, onVerified }: WalkOptions,
  signal: AbortSignal = NEVER_ABORTED,
): Promise<void> {
  const email = newEmail();
  const from = newIpAddress();
  const form = () => post(`${url}${API.leads}`, filledForm({ email }), '', from);
  const response = await retryOnServerError(ledger, form, signal);
  if (response === null) return;
  if (response.status !== 202) throw new Error(`The form got ${response.status}: ${response.body}`);
  ledger.acknowledged.add(email);
  await onAccepted?.(email, response.cookie);

  let code: string;
  try {
    code = codeIn(await inbox.waitForMail(email, 1, MAIL_PATIENCE_MS));
  } catch {
    ledger.unmailed.add(email);
    return;
  }
  const entry = () => post(`${url}${API.verify}`, { email, code }, response.cookie, from);
  const entered = await retryOnServerError(ledger, entry, NEVER_ABORTED);
  if (entered?.status === 200) {
    ledger.verified.add(email);
    await onVerified?.(entered.cookie);
  } else ledger.unverified.set(email, `${entered?.status}: ${entered?.body}`);
}

export async function whileVisited(
  count: number,
  visit: (signal: AbortSignal) => Promise<void>,
  work: () => Promise<unknown>,
): Promise<void> {
  const enough = new AbortController();
  const traffic = Promise.all(
    Array.from({ length: count }, async () => {
      while (!enough.signal.aborted) await visit(enough.signal);
    }),
  );
  // Reported by the last line, even if it fails during the work.
  traffic.catch(() => {});
  try {
    await work();
  } finally {
    enough.abort();
    await traffic;
  }
}

export async function walkWhile(
  options: Omit<WalkOptions, 'ledger'>,
  count: number,
  work: (ledger: Ledger) => Promise<unknown>,
): Promise<Ledger> {
  const ledger = newLedger();
  await whileVisited(
    count,
    (signal) => walk({ ...options, ledger }, signal),
    () => work(ledger),
  );
  return ledger;
}

/** Turns the breaker and the limits of networks off, because one machine simulates all visitors. Not for measuring speed. */
export const WITHOUT_LIMITS = {
  LEADS_PER_IP_PER_HOUR: '0',
  VERIFY_PER_IP_PER_HOUR: '0',
  BREAKER_CODES_PER_MINUTE: '0',
  BREAKER_UNENTERED_PERCENT: '0',
  LOG_LEVEL: 'error',
} as const;

/** As in production behind a proxy: every limit is counted, none is reached. */
export const LIMITS_OUT_OF_REACH = {
  TRUST_PROXY: '1',
  LEADS_PER_IP_PER_HOUR: '1000000',
  VERIFY_PER_IP_PER_HOUR: '1000000',
  // The breaker counts up to this many rows each time.
  BREAKER_CODES_PER_MINUTE: '100000',
} as const;
