// The browser's side of the desk's calls: asks, and makes one kind of error out of everything that can go wrong.
import type { Call } from '#desk/endpoints/endpoint.ts';
import { KEPT_BY_BROWSER } from '#desk/endpoints/auth.ts';
import { failure as words } from '#desk/web/words.ts';
import { ERROR_CODE_HEADER } from '#shared/errors.ts';

/** A doctor may take half a minute; a call that takes this long gets no answer any more. */
const CALL_LIMIT_MS = 60_000;

/** A call that failed. Its message is a sentence for the reader: the server's own, or ours when no server answered. */
export class CallError extends Error {
  /** Of the answer; 0 when there was none. */
  readonly status: number;
  /** Which error it is (`x-error-code`); null when the answer did not come from our server. */
  readonly code: string | null;

  constructor(sentence: string, status = 0, code: string | null = null) {
    super(sentence);
    this.name = 'CallError';
    this.status = status;
    this.code = code;
  }
}

/** Whether a call failed because the session is over, or never was. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof CallError && error.status === 401 && error.code === 'no-session';

/** Fetches from the desk. At plain http it sends what the page keeps in place of cookies, and keeps what the answer says. */
export async function fetchFromDesk(url: string, { headers, ...init }: RequestInit): Promise<Response> {
  if (location.protocol !== 'http:') return fetch(url, { ...init, ...(headers && { headers }) });
  const sent = new Headers(headers);
  const names = Object.values(KEPT_BY_BROWSER);
  for (const name of names) {
    const value = sessionStorage.getItem(name);
    if (value !== null) sent.set(name, value);
  }
  const response = await fetch(url, { ...init, headers: sent });
  for (const name of names) {
    const value = response.headers.get(name);
    if (value === '') sessionStorage.removeItem(name);
    else if (value !== null) sessionStorage.setItem(name, value);
  }
  return response;
}

type Asked = string | number | boolean | null | undefined;

/** The address of a GET, with what is asked in its query; what is undefined is left out. */
export function addressOf(path: string, asked: Readonly<Record<string, Asked>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked))
    if (value !== undefined && value !== null) query.set(name, String(value));
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** What a failed answer says: the server's sentence, unless a proxy answered in its place. */
export async function errorOf(response: Response): Promise<CallError> {
  const code = response.headers.get(ERROR_CODE_HEADER);
  const text = (await response.text().catch(() => '')).trim();
  const isSentence = (response.headers.get('content-type') ?? '').startsWith('text/plain') && text !== '';
  return new CallError(isSentence ? text : words.noSentence(response.status), response.status, code);
}

/** Makes a call. Throws a {@link CallError}, or what `signal` was aborted with. */
export async function ask<What extends object, Answered>(
  call: Call<What, Answered>,
  asked: What,
  signal?: AbortSignal,
): Promise<Answered> {
  const limit = new AbortController();
  const giveUp = () => limit.abort(signal?.reason);
  const timer = setTimeout(giveUp, CALL_LIMIT_MS);
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    const response = await (
      call.method === 'GET'
        ? fetchFromDesk(addressOf(call.path, asked as Readonly<Record<string, Asked>>), {
            signal: limit.signal,
          })
        : fetchFromDesk(call.path, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(asked),
            signal: limit.signal,
          })
    ).catch(() => {
      signal?.throwIfAborted();
      throw new CallError(limit.signal.aborted ? words.noAnswer : words.offline);
    });
    if (!response.ok) throw await errorOf(response);
    return (await response.json().catch(() => {
      signal?.throwIfAborted();
      throw new CallError(words.broken, response.status);
    })) as Answered;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}
