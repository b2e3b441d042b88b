// The browser's side of the calls (specification, section 7), and how their failures become errors (section 8).
import {
  Article,
  API,
  CodeRequested,
  CONSENT_VERSION_HEADER,
  OpenChallenge,
  type MailFate,
  PROOF_OF_WORK_HEADER,
  Verified,
  WITH_ARTICLE,
} from '#shared/api.ts';
import { ERROR_CODE_HEADER, type ApiErrorCode } from '#shared/errors.ts';
import type { Lead, Verification } from '#shared/lead.ts';
import type { ProofOfWorkModule } from '#web/proof-of-work.ts';
import { visitHeader } from '#web/attribution.ts';
import { SITE_PATH } from '#web/site-path.ts';

/** A separate file (build/build.ts), because hardly any visitor needs it. */
const PROOF_OF_WORK_MODULE = `${SITE_PATH}/proof-of-work.js`;

/**
 * How long a call may take. Generous: our server answers in a fraction of a second, or in a few when it is drowning, and a
 * phone that changes networks takes some ten seconds to reconnect. Visitors who wait longer give up.
 */
const CALL_LIMIT_MS = 30_000;

/** A call that was not answered in time. Whether it arrived is not known. */
export class TimeLimitError extends Error {}

/** An answer that was not a success. Its message is the specification's: `STATUS: body`, or the status text. */
export class ApiError extends Error {
  readonly status: number;
  /** The server's sentence; empty when it sent none, null for an HTML document: a proxy or a portal, which is not our server. */
  readonly body: string | null;
  /** Which error it is; null when the answer did not come from our server. */
  readonly code: string | null;

  constructor(response: Pick<Response, 'status' | 'statusText' | 'headers'>, body: string) {
    super(`${response.status}: ${body || response.statusText}`);
    this.name = 'ApiError';
    this.status = response.status;
    this.body = isDocument(response, body) ? null : body;
    this.code = response.headers.get(ERROR_CODE_HEADER);
  }
}

/** Whether a call failed with a certain error of the catalogue. */
export const failedWith = (error: unknown, code: ApiErrorCode): error is ApiError =>
  error instanceof ApiError && error.code === code;

/**
 * Whether a code was refused for what it is, so that the same digits would be refused again; anything else (no answer, a
 * limit, an error) says nothing about it. An answer without one of our error codes is judged by its status.
 */
export const isDeadCode = (error: unknown): boolean =>
  failedWith(error, 'wrong-code') ||
  failedWith(error, 'invalid-input') ||
  // Its codes have ended with the challenge (server/leads/verify-code.ts).
  failedWith(error, 'too-many-tries') ||
  failedWith(error, 'too-many-tries-without-cookies') ||
  (error instanceof ApiError && error.code === null && error.status === 400 && error.body !== null);

/** Whether an answer is HTML, which no answer of our API is: a proxy's error page, a portal's welcome. */
const isDocument = ({ headers }: Pick<Response, 'headers'>, body: string): boolean =>
  /^<(!doctype|html|head|body|!--|\?xml)/i.test(body) ||
  (body.startsWith('<') && (headers.get('content-type') ?? '').includes('html'));

/** Gives up on what takes longer than a call may. The signal is for ending what can be ended. */
function withinLimit<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  let timer: ReturnType<typeof setTimeout>;
  const timeIsUp = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new TimeLimitError());
      limit.abort();
    }, CALL_LIMIT_MS);
  });
  return Promise.race([work(limit.signal), timeIsUp]).finally(() => clearTimeout(timer));
}

/** A success, its body read to the end. */
type Answer = { readonly status: number; readonly text: string };

const call = (url: string, init: RequestInit = {}): Promise<Answer> =>
  withinLimit(async (signal) => {
    const response = await fetch(SITE_PATH + url, { ...init, credentials: 'include', signal });
    const text = (await response.text()).trim();
    if (!response.ok || isDocument(response, text)) throw new ApiError(response, text);
    return { status: response.status, text };
  });

const post = (url: string, body: object, headers: Record<string, string> = {}): Promise<Answer> =>
  call(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/**
 * Asks for a code. Where the server wants a proof of work first, it is done, and the visitor notices a second or two.
 * @param consentVersion the wording that stood beside the box when it was ticked; empty when none was stated
 * @param more what else the body says: what a robot wrote into the hidden field; which of several pages this is
 * @returns what the server said, or null when a success had no readable body
 */
export async function requestCode(
  lead: Lead,
  consentVersion: string,
  more: Readonly<Record<string, string>> = {},
): Promise<CodeRequested | null> {
  const body = { ...lead, ...more };
  const wording = consentVersion === '' ? {} : { [CONSENT_VERSION_HEADER]: consentVersion };
  const stated = { ...visitHeader(), ...wording };
  const { text } = await post(API.leads, body, stated).catch(async (error: unknown) => {
    if (!failedWith(error, 'proof-of-work-required')) throw error;
    return post(API.leads, body, { ...stated, [PROOF_OF_WORK_HEADER]: await earnProof(error) });
  });
  const answer = CodeRequested.safeParse(readJson(text));
  return answer.success ? answer.data : null;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** @param refusal shown to the visitor when the proof cannot be made: an old browser, a lost connection */
async function earnProof(refusal: ApiError): Promise<string> {
  try {
    // The address is not the bundler's to resolve.
    const module = await withinLimit(
      () => import(/* @vite-ignore */ PROOF_OF_WORK_MODULE) as Promise<ProofOfWorkModule>,
    );
    return await module.earnProof((await call(API.proofOfWork)).text);
  } catch {
    throw refusal;
  }
}

/**
 * Enters a code. Resolves when it was right; the session cookie is set by then.
 * @returns what it opens, where that came along; it can be fetched otherwise
 */
export async function verifyCode(verification: Verification): Promise<Article | null> {
  const { text } = await post(API.verify, verification, { prefer: WITH_ARTICLE });
  const answer = Verified.safeParse(readJson(text));
  return (answer.success && answer.data.article) || null;
}

/**
 * The code this browser is waiting for; null when there is none. Throws when the server could not be asked.
 * @param id of the challenge; empty for the browser's newest, where the page does not know which
 */
export async function fetchOpenChallenge(id: string): Promise<OpenChallenge | null> {
  const query = id === '' ? '' : `?id=${encodeURIComponent(id)}`;
  const { status, text } = await call(API.challenge + query);
  return status === 204 ? null : OpenChallenge.parse(JSON.parse(text));
}

/** The state of the newest mail of a challenge of this browser; null when there is none, or the server cannot say. */
export async function fetchMailFate(id: string): Promise<MailFate | null> {
  try {
    return (await fetchOpenChallenge(id))?.mail ?? null;
  } catch {
    // Not shown to the visitor; the code screen asks again later.
    return null;
  }
}

/** The generic fetcher (specification, section 7): the key's parts joined by "/". Throws on 401 like on any failure. */
export async function fetchByKey({ queryKey }: { readonly queryKey: readonly unknown[] }): Promise<unknown> {
  return JSON.parse((await call(queryKey.join('/'))).text);
}

/** Asks whether the guide can be downloaded. Throws when not: a session that is over, or a server that does not answer. */
export const isGuideFileThere = (): Promise<unknown> => call(API.guideFile, { method: 'HEAD' });

/** The key under which the article is fetched and kept. */
export const ARTICLE_KEY = ['', ...API.article.split('/').filter(Boolean)] as const;

/** Reports that a person reads the article. */
export const noteReading = (): void => void call(API.article, { method: 'HEAD' }).catch(() => {});

/** Reads the article out of an answer. */
export const parseArticle = (answer: unknown): Article => Article.parse(answer);
