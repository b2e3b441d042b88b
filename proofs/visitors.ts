// Visitors for the reliability harnesses: each asks for a code over HTTP, waits for its mail, enters it, and writes down
// what the server promised. They are as patient as people are not: when the server does not answer, they try again.
import { setTimeout } from 'node:timers/promises';

import { API } from '#shared/api.ts';
import { codeIn, type Inbox } from '#testing/inbox.ts';
import { filledForm } from '#testing/server-under-test.ts';

export type Answer = {
  readonly status: number;
  readonly body: string;
  readonly cookie: string;
  readonly headers: Headers;
};

/**
 * One POST of JSON. Throws when there is no answer.
 * @param clientAddress for a server that trusts a proxy in front of it
 */
export async function post(url: string, body: object, cookie = '', clientAddress = ''): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(cookie && { cookie }),
      ...(clientAddress && { 'x-forwarded-for': clientAddress }),
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  return {
    status: response.status,
    body: await response.text(),
    cookie: response.headers
      .getSetCookie()
      .map((line) => line.split(';', 1)[0])
      .join('; '),
    headers: response.headers,
  };
}

/** What became of each address. */
export type Ledger = {
  /** Answered 202: the promise that a code is mailed. */
  readonly acknowledged: Set<string>;
  /** Answered 200 to the right code: the promise that there is a lead. */
  readonly verified: Set<string>;
  /** The mail came, but no try to enter its code was answered 200. */
  readonly unverified: Map<string, string>;
  /** No mail within the patience. */
  readonly unmailed: Set<string>;
  /** Requests that got no answer at all, and answers by status. */
  readonly answers: Map<string, number>;
  /** Requests without an answer, by what broke, and answers from 500 up, by their error code. */
  readonly failed: Map<string, number>;
  /** Answers from 500 up without a sentence, and 503 without Retry-After. */
  readonly wordless: string[];
  /** Each answer: when it came (milliseconds since 1970), after how long, and its status. */
  readonly heard: { readonly at: number; readonly afterMs: number; readonly status: string }[];
};

export const newLedger = (): Ledger => ({
  acknowledged: new Set(),
  verified: new Set(),
  unverified: new Map(),
  unmailed: new Set(),
  answers: new Map(),
  failed: new Map(),
  wordless: [],
  heard: [],
});

const PAUSE_MS = 50;
/** A code is valid for 600 s; whoever waits longer than this has lost it. */
const MAIL_PATIENCE_MS = 240_000;

let visitors = 0;
/** An address nobody used before. */
export const newAddress = (): string => `visitor-${process.pid}-${(visitors += 1)}@example.com`;

const randomByte = (): number => Math.floor(Math.random() * 256);
const randomAddress = (): string => `10.${randomByte()}.${randomByte()}.${randomByte()}`;

/** fetch() hides it one level down. */
function whatBroke(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? String('code' in cause ? cause.code : cause.name) : 'unknown';
}

/** Tries until the server answers with something that is not its own failure. */
async function insist(
  ledger: Ledger,
  request: () => Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer | null> {
  while (!signal.aborted) {
    let answer: Answer | null = null;
    let broke = '';
    const asked = Date.now();
    try {
      answer = await request();
    } catch (error) {
      // Refused, reset, or cut off in the middle: the server was killed.
      broke = whatBroke(error);
    }
    const key = answer === null ? 'no answer' : String(answer.status);
    ledger.answers.set(key, (ledger.answers.get(key) ?? 0) + 1);
    ledger.heard.push({ at: Date.now(), afterMs: Date.now() - asked, status: key });
    if (answer !== null && answer.status < 500) return answer;
    const failure =
      answer === null ? broke : `${key} ${answer.headers.get('x-error-code') ?? 'without a code'}`;
    ledger.failed.set(failure, (ledger.failed.get(failure) ?? 0) + 1);
    if (answer !== null && !/^[A-Z].{10,}\.$/.test(answer.body))
      ledger.wordless.push(`${key}: ${answer.body}`);
    if (answer?.status === 503 && !answer.headers.has('retry-after'))
      ledger.wordless.push('503 without Retry-After');
    await setTimeout(PAUSE_MS);
  }
  return null;
}

type Walkers = {
  readonly url: string;
  readonly inbox: Inbox;
  readonly ledger: Ledger;
  /** What somebody does who was let in, with their session. */
  readonly onVerified?: ((cookie: string) => Promise<void>) | undefined;
  /** What passes between the mail and its code. */
  readonly pauseForCode?: () => Promise<void>;
};

/**
 * One visitor's whole way.
 * @param signal ends the asking; a visitor who was acknowledged goes on to the end
 */
export async function walk(
  { url, inbox, ledger, onVerified, pauseForCode }: Walkers,
  signal: AbortSignal,
): Promise<void> {
  const email = newAddress();
  const from = randomAddress();
  const asked = await insist(
    ledger,
    () => post(`${url}${API.leads}`, filledForm({ email }), '', from),
    signal,
  );
  if (asked === null) return;
  if (asked.status !== 202) throw new Error(`The form was answered ${asked.status}: ${asked.body}`);
  ledger.acknowledged.add(email);

  let code: string;
  try {
    code = codeIn(await inbox.waitForMail(email, 1, MAIL_PATIENCE_MS));
  } catch {
    ledger.unmailed.add(email);
    return;
  }
  await pauseForCode?.();
  const never = new AbortController().signal;
  const entered = await insist(
    ledger,
    () => post(`${url}${API.verify}`, { email, code }, asked.cookie),
    never,
  );
  if (entered?.status === 200) {
    ledger.verified.add(email);
    await onVerified?.(entered.cookie);
  } else ledger.unverified.set(email, `${entered?.status}: ${entered?.body}`);
}

/** So many visitors at a time, one after the other, until the signal; resolves when the last has finished. */
export async function keepWalking(parts: Walkers, concurrency: number, signal: AbortSignal): Promise<void> {
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (!signal.aborted) await walk(parts, signal);
    }),
  );
}

/** Nothing but faults is to be measured: no limits on one machine that plays everybody. */
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
  // Not more: the breaker counts up to so many rows each time it looks.
  BREAKER_CODES_PER_MINUTE: '100000',
} as const;
