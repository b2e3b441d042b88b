// The browser's API calls (specification, section 7) and their errors (section 8).
import {
  API,
  Article,
  CodeRequested,
  CONSENT_VERSION_HEADER,
  type MailStatus,
  OpenChallenge,
  PROOF_OF_WORK_HEADER,
  Verified,
  WITH_ARTICLE,
} from '#shared/api.ts';
import { type ApiErrorCode, ERROR_CODE_HEADER, ERROR_FIELD_HEADER } from '#shared/errors.ts';
import type { LeadForm, Verification } from '#shared/lead.ts';
import { orNull } from '#shared/or-null.ts';
import type { ProofOfWorkModule } from '#web/proof-of-work.ts';
import { visitHeader } from '#web/attribution.ts';
import { SITE_PATH } from '#web/site-path.ts';

/** A separate file, because very few visitors need it. */
const PROOF_OF_WORK_MODULE = `${SITE_PATH}/proof-of-work.js`;

/** A phone that changes networks takes about ten seconds to reconnect; visitors give up within half a minute. */
const CALL_LIMIT_MS = 30_000;

/** Thrown when no response arrives in time. The request may still have reached the server. */
export class TimeLimitError extends Error {}

/** The message is the specification's `STATUS: body`, or the status text. */
export class ApiError extends Error {
  readonly status: number;
  /** Possibly empty; null if a proxy or captive portal sent an HTML document. */
  readonly body: string | null;
  readonly code: string | null;
  /** The field that the body is about. */
  readonly field: string | null;

  constructor(response: Pick<Response, 'status' | 'statusText' | 'headers'>, body: string) {
    super(`${response.status}: ${body || response.statusText}`);
    this.name = 'ApiError';
    this.status = response.status;
    this.body = isDocument(response, body) ? null : body;
    this.code = response.headers.get(ERROR_CODE_HEADER);
    this.field = this.body && response.headers.get(ERROR_FIELD_HEADER);
  }
}

/** An ApiError, or an error without a response, which has neither. */
export type FormError = Error & { readonly field?: keyof LeadForm | null; readonly body?: string | null };

export const failedWith = (error: unknown, code: ApiErrorCode): error is ApiError =>
  error instanceof ApiError && error.code === code;

/** True if the same digits would be refused again. Another server that follows the specification sends 400 without our headers. */
export const isDeadCode = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.field === 'code' || (error.code === null && error.status === 400 && error.body !== null));

const isDocument = ({ headers }: Pick<Response, 'headers'>, body: string): boolean =>
  /^<(!doctype|html|head|body|!--|\?xml)/i.test(body) ||
  (body.startsWith('<') && (headers.get('content-type') ?? '').includes('html'));

/** Rejects even if the work ignores the signal, because import() cannot be aborted. */
function withinLimit<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  let timer: ReturnType<typeof setTimeout>;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new TimeLimitError());
      limit.abort();
    }, CALL_LIMIT_MS);
  });
  return Promise.race([work(limit.signal), timeout]).finally(() => clearTimeout(timer));
}

type ApiResponse = { readonly status: number; readonly text: string };

const call = (url: string, init: RequestInit = {}): Promise<ApiResponse> =>
  withinLimit(async (signal) => {
    const response = await fetch(SITE_PATH + url, { ...init, credentials: 'include', signal });
    const text = (await response.text()).trim();
    if (!response.ok || isDocument(response, text)) throw new ApiError(response, text);
    return { status: response.status, text };
  });

const post = (url: string, body: object, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  call(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/**
 * Solves a proof of work if the server demands one, which takes a second or two.
 * @param consentVersion empty if unknown
 * @param extraFields the honeypot field and the variant
 * @returns null if a successful response is unreadable
 */
export async function requestCode(
  lead: LeadForm,
  consentVersion: string,
  extraFields: Readonly<Record<string, string>> = {},
): Promise<CodeRequested | null> {
  const body = { ...lead, ...extraFields };
  const wording = consentVersion === '' ? {} : { [CONSENT_VERSION_HEADER]: consentVersion };
  const headers = { ...visitHeader(), ...wording };
  const { text } = await post(API.leads, body, headers).catch(async (error: unknown) => {
    if (!failedWith(error, 'proof-of-work-required')) throw error;
    return post(API.leads, body, { ...headers, [PROOF_OF_WORK_HEADER]: await earnProof(error) });
  });
  return CodeRequested.safeParse(orNull<unknown>(() => JSON.parse(text))).data ?? null;
}

async function earnProof(refusal: ApiError): Promise<string> {
  try {
    const module = await withinLimit(
      () => import(/* @vite-ignore */ PROOF_OF_WORK_MODULE) as Promise<ProofOfWorkModule>,
    );
    return await module.earnProof((await call(API.proofOfWork)).text);
  } catch {
    throw refusal;
  }
}

/** Resolves once the session cookie is set, with the article if the response contains it. */
export async function verifyCode(verification: Verification): Promise<Article | null> {
  const { text } = await post(API.verify, verification, { prefer: WITH_ARTICLE });
  return Verified.safeParse(orNull<unknown>(() => JSON.parse(text))).data?.article ?? null;
}

/**
 * Returns null if no challenge is open in this browser.
 * @param id empty for the browser's newest challenge
 */
export async function fetchOpenChallenge(id: string): Promise<OpenChallenge | null> {
  const query = id === '' ? '' : `?id=${encodeURIComponent(id)}`;
  const { status, text } = await call(API.challenge + query);
  return status === 204 ? null : OpenChallenge.parse(JSON.parse(text));
}

export const fetchMailStatus = async (id: string): Promise<MailStatus | null> =>
  (await fetchOpenChallenge(id).catch(() => null))?.mail ?? null;

/** {@link fetchByKey} joins it to the URL. */
export const ARTICLE_KEY = ['', ...API.article.split('/').filter(Boolean)] as const;

/** The specification's query function (section 7). */
export async function fetchByKey({ queryKey }: { readonly queryKey: readonly unknown[] }): Promise<unknown> {
  return JSON.parse((await call(queryKey.join('/'))).text);
}

/** Throws if the session or the file is missing. */
export const checkGuideFile = (): Promise<unknown> => call(API.guideFile, { method: 'HEAD' });

/** The server counts only HEAD as reading after a mailed link, because mail scanners open links, too. */
export const noteReading = (): void => void call(API.article, { method: 'HEAD' }).catch(() => {});

export const parseArticle = (response: unknown): Article => Article.parse(response);
