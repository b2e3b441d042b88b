// Visitors of a site under test: each asks for a code over HTTP, waits for its mail, enters it, and writes down what the server
// promised. They are more patient than people: when the server does not answer, they try again.
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

/** What visitors were promised, and what they got, by address. */
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
/** A code is valid for 600 s; a mail that takes longer than this counts as lost. */
const MAIL_PATIENCE_MS = 240_000;

let visitors = 0;
/** An address that no visitor has used before. */
export const newAddress = (domain = 'example.com'): string =>
  `visitor-${process.pid}-${(visitors += 1)}@${domain}`;

/** @param n from 0; @param first number of the address */
export const networkAddress = (n: number, first = 10): string =>
  `${first}.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
/** A network from which no visitor has come before. */
export const newNetwork = (): string => networkAddress((visitors += 1));

/** How many requests visitors have sent. */
export const countRequests = ({ answers }: Ledger): number =>
  answers.values().reduce((sum, count) => sum + count, 0);
/** Requests without an answer, and answers from 500 up. */
export const countFailed = ({ failed }: Ledger): number =>
  failed.values().reduce((sum, count) => sum + count, 0);
/** How often each was counted, in words. */
export const sayCounts = (counts: ReadonlyMap<string | number, number>): string =>
  Array.from(counts, ([what, count]) => `${what}: ${count}`).join(', ');

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
  /** What a visitor does with the session. */
  readonly onVerified?: ((cookie: string) => Promise<void>) | undefined;
  /** Resolves when the visitor has read the mail. */
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
  const from = newNetwork();
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

/**
 * Repeats the visits of some visitors while something happens.
 * @param count how many come at a time
 * @param visit one visit; the signal says that it is the last
 * @returns when that has happened and the last visitor has finished
 */
export async function whileVisited(
  count: number,
  visit: (signal: AbortSignal) => Promise<void>,
  happening: () => Promise<unknown>,
): Promise<void> {
  const enough = new AbortController();
  const traffic = Promise.all(
    Array.from({ length: count }, async () => {
      while (!enough.signal.aborted) await visit(enough.signal);
    }),
  );
  try {
    await happening();
  } finally {
    enough.abort();
    await traffic;
  }
}

/** Lets visitors walk while something happens. @returns their ledger */
export async function walkWhile(
  walkers: Omit<Walkers, 'ledger'>,
  count: number,
  happening: (ledger: Ledger) => Promise<unknown>,
): Promise<Ledger> {
  const ledger = newLedger();
  await whileVisited(
    count,
    (signal) => walk({ ...walkers, ledger }, signal),
    () => happening(ledger),
  );
  return ledger;
}

/** One visitor who asks once, becomes a lead and reads the article. Throws when the server does not let them. */
export async function becomeLead(
  { url, inbox }: Pick<Walkers, 'url' | 'inbox'>,
  email = newAddress(),
): Promise<string> {
  const expectStatus = (what: string, { status }: { readonly status: number }, expected: number) => {
    if (status !== expected) throw new Error(`${what} was answered ${status}.`);
  };
  const asked = await post(`${url}${API.leads}`, filledForm({ email }));
  expectStatus('The form', asked, 202);
  const code = codeIn(await inbox.waitForMail(email));
  const verified = await post(`${url}${API.verify}`, { email, code }, asked.cookie);
  expectStatus('The code', verified, 200);
  const article = await fetch(`${url}${API.article}`, { headers: { cookie: verified.cookie } });
  expectStatus('The article', article, 200);
  return email;
}

/** For measuring faults alone: one machine plays all visitors, so no limit may stop it. */
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
  // Not higher: each look of the breaker counts up to this many rows.
  BREAKER_CODES_PER_MINUTE: '100000',
} as const;
