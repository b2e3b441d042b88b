import type { Call } from '#desk/endpoints/endpoint.ts';
import { COOKIE_HEADERS } from '#desk/endpoints/auth.ts';
import { ERROR_CODE_HEADER } from '#shared/errors.ts';

/** A doctor run takes up to half a minute. */
const CALL_LIMIT_MS = 60_000;

export const OFFLINE = 'The server could not be reached. Check your connection, and try again.';
export const BROKEN = 'The response was incomplete. Try again.';

/** The message is the server's sentence or, without a response, our own. */
export class CallError extends Error {
  readonly status: number;
  readonly code: string | null;

  constructor(sentence: string, status = 0, code: string | null = null) {
    super(sentence);
    this.name = 'CallError';
    this.status = status;
    this.code = code;
  }
}

export const isSignedOut = (error: unknown): boolean =>
  error instanceof CallError && error.status === 401 && error.code === 'no-session';

/** On plain http, sends and stores headers that replace cookies. */
export async function fetchFromDesk(url: string, { headers, ...init }: RequestInit): Promise<Response> {
  if (location.protocol !== 'http:') return fetch(url, { ...init, ...(headers && { headers }) });
  const sent = new Headers(headers);
  const names = Object.values(COOKIE_HEADERS);
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

/** Omits empty values. */
export function addressOf(path: string, asked: Readonly<Record<string, Asked>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked))
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value));
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

export function valuesIn<Name extends string>(
  query: URLSearchParams,
  names: readonly Name[],
): { readonly [One in Name]?: string } {
  const found: { [One in Name]?: string } = {};
  for (const name of names) {
    const value = query.get(name)?.trim();
    if (value) found[name] = value;
  }
  return found;
}

export async function errorOf(response: Response): Promise<CallError> {
  const code = response.headers.get(ERROR_CODE_HEADER);
  const text = (await response.text().catch(() => '')).trim();
  const isSentence = (response.headers.get('content-type') ?? '').startsWith('text/plain') && text !== '';
  return new CallError(
    isSentence
      ? text
      : `The response (status ${response.status}) did not come from the desk. Check the proxy in front of the desk.`,
    response.status,
    code,
  );
}

/** Throws a {@link CallError}, or the reason of `signal`. */
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
      throw new CallError(
        limit.signal.aborted ? 'The server did not respond within a minute. Try again later.' : OFFLINE,
      );
    });
    if (!response.ok) throw await errorOf(response);
    return (await response.json().catch(() => {
      signal?.throwIfAborted();
      throw new CallError(BROKEN, response.status);
    })) as Answered;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}
