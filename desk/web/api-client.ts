import type { Endpoint } from '#desk/endpoints/endpoint.ts';
import { COOKIE_HEADERS } from '#desk/endpoints/auth.ts';
import { ERROR_CODE_HEADER } from '#shared/errors.ts';

/** A doctor run takes up to half a minute. */
const TIMEOUT_MS = 60_000;

export const OFFLINE = 'The server could not be reached. Check your connection, and try again.';
export const BROKEN = 'The response was incomplete. Try again.';

/** The message is the server's sentence or, without a response, our own. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string | null;

  constructor(sentence: string, status = 0, code: string | null = null) {
    super(sentence);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
  }
}

export const isSignedOut = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 401 && error.code === 'no-session';

/** On plain http, sends and stores headers that replace cookies. */
export async function fetchWithSession(url: string, { headers, ...init }: RequestInit): Promise<Response> {
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

type QueryValue = string | number | boolean | null | undefined;

/** Omits empty values. */
export function urlOf(path: string, input: Readonly<Record<string, QueryValue>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input))
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

export async function errorOf(response: Response): Promise<ApiError> {
  const code = response.headers.get(ERROR_CODE_HEADER);
  const text = (await response.text().catch(() => '')).trim();
  const isSentence = (response.headers.get('content-type') ?? '').startsWith('text/plain') && text !== '';
  return new ApiError(
    isSentence
      ? text
      : `The response (status ${response.status}) did not come from the desk. Check the proxy in front of the desk.`,
    response.status,
    code,
  );
}

/** Throws a {@link ApiError}, or the reason of `signal`. */
export async function callApi<Input extends object, Output>(
  endpoint: Endpoint<Input, Output>,
  input: Input,
  signal?: AbortSignal,
): Promise<Output> {
  const limit = new AbortController();
  const giveUp = () => limit.abort(signal?.reason);
  const timer = setTimeout(giveUp, TIMEOUT_MS);
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    const response = await (
      endpoint.method === 'GET'
        ? fetchWithSession(urlOf(endpoint.path, input as Readonly<Record<string, QueryValue>>), {
            signal: limit.signal,
          })
        : fetchWithSession(endpoint.path, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(input),
            signal: limit.signal,
          })
    ).catch(() => {
      signal?.throwIfAborted();
      throw new ApiError(
        limit.signal.aborted ? 'The server did not respond within a minute. Try again later.' : OFFLINE,
      );
    });
    if (!response.ok) throw await errorOf(response);
    return (await response.json().catch(() => {
      signal?.throwIfAborted();
      throw new ApiError(BROKEN, response.status);
    })) as Output;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}
