// The browser's side of the calls (specification, section 7), and how their failures become errors (section 8).
import {
  Article,
  API,
  CodeRequested,
  CONSENT_VERSION_HEADER,
  OpenChallenge,
  type MailFate,
  PROOF_OF_WORK_HEADER,
} from '#shared/api.ts';
import { ERROR_CODE_HEADER, type ApiErrorCode } from '#shared/errors.ts';
import type { Lead, Verification } from '#shared/lead.ts';
import type { ProofOfWorkModule } from '#web/proof-of-work.ts';

/** A file of its own (build/build.ts), because hardly any visitor ever needs it. */
const PROOF_OF_WORK_MODULE = '/proof-of-work.js';

/** An answer that was not a success. Its message is the specification's: `STATUS: body`, or the status text. */
export class ApiError extends Error {
  readonly status: number;
  /** The server's sentence; empty when it sent none. */
  readonly body: string;
  /** Which error it is; null when the answer did not come from our server. */
  readonly code: string | null;

  constructor(response: Pick<Response, 'status' | 'statusText' | 'headers'>, body: string) {
    super(`${response.status}: ${body || response.statusText}`);
    this.name = 'ApiError';
    this.status = response.status;
    this.body = body;
    this.code = response.headers.get(ERROR_CODE_HEADER);
  }
}

/** Whether a call failed with a certain error of the catalogue. */
export const failedWith = (error: unknown, code: ApiErrorCode): error is ApiError =>
  error instanceof ApiError && error.code === code;

async function call(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, credentials: 'include' });
  if (!response.ok) throw new ApiError(response, (await response.text()).trim());
  return response;
}

const post = (url: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  call(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/**
 * Asks for a code. Where the server wants a proof of work first, it is done, and the visitor notices a second or two.
 * @param consentVersion the wording that stood beside the box when it was ticked; empty when none was stated
 * @param trap what a robot wrote into the hidden field; sent only when there is something
 * @returns what the server said, or null when a success had no readable body
 */
export async function requestCode(
  lead: Lead,
  consentVersion: string,
  trap: Record<string, string> = {},
): Promise<CodeRequested | null> {
  const body = { ...lead, ...trap };
  const stated = consentVersion === '' ? {} : { [CONSENT_VERSION_HEADER]: consentVersion };
  const response = await post(API.leads, body, stated).catch(async (error: unknown) => {
    if (!failedWith(error, 'proof-of-work-required')) throw error;
    return post(API.leads, body, { ...stated, [PROOF_OF_WORK_HEADER]: await earnProof(error) });
  });
  const answer = CodeRequested.safeParse(await response.json().catch(() => null));
  return answer.success ? answer.data : null;
}

/** @param refusal told to the visitor when the proof cannot be made: an old browser, a lost connection */
async function earnProof(refusal: ApiError): Promise<string> {
  try {
    // The address is not the bundler's to resolve.
    const module = (await import(/* @vite-ignore */ PROOF_OF_WORK_MODULE)) as ProofOfWorkModule;
    return await module.earnProof();
  } catch {
    throw refusal;
  }
}

/** Enters a code. Resolves when it was right; the session cookie is set by then. */
export async function verifyCode(verification: Verification): Promise<void> {
  await post(API.verify, verification);
}

/** The code this browser is waiting for; null when there is none, or when the server cannot say. */
export async function fetchOpenChallenge(id: string): Promise<OpenChallenge | null> {
  try {
    const response = await call(`${API.challenge}?id=${encodeURIComponent(id)}`, {});
    const open = OpenChallenge.safeParse(response.status === 200 ? await response.json() : null);
    return open.success ? open.data : null;
  } catch {
    // Without it the visitor starts from the form, which says what to do.
    return null;
  }
}

/** What became of the newest mail of a challenge of this browser; null when there is none, or the server cannot say. */
export async function fetchMailFate(id: string): Promise<MailFate | null> {
  try {
    const response = await call(`${API.challenge}?id=${encodeURIComponent(id)}`, {});
    const open = OpenChallenge.safeParse(response.status === 200 ? await response.json() : null);
    return open.data?.mail ?? null;
  } catch {
    // Nothing is said then; it is asked again later.
    return null;
  }
}

/** The generic fetcher (specification, section 7): the key's parts joined by "/". Throws on 401 like on any failure. */
export async function fetchByKey({ queryKey }: { readonly queryKey: readonly unknown[] }): Promise<unknown> {
  const response = await call(queryKey.join('/'), {});
  return response.json();
}

/** The key under which the article is fetched and kept. */
export const ARTICLE_KEY = ['', ...API.article.split('/').filter(Boolean)] as const;

/** Reads the article out of an answer. */
export const parseArticle = (answer: unknown): Article => Article.parse(answer);
