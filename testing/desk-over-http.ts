import { COOKIE_HEADERS } from '#desk/endpoints/auth.ts';
import { postJson } from '#testing/post-json.ts';
import { isServed, until } from '#testing/until.ts';

const READY_WITHIN_MS = 60_000;

/** The desk runs in its own process, which starts after the site's. */
export const untilDeskAnswers = (url: string): Promise<void> => until(() => isServed(url), READY_WITHIN_MS);

/** Over plain http, the desk accepts a header instead of a cookie. */
export type SessionHeader = { readonly [COOKIE_HEADERS.session]: string };

export async function signInOverHttp(
  url: string,
  email: string,
  mailedCode: () => Promise<string>,
  userAgent = 'test',
): Promise<SessionHeader> {
  const { signIn, session } = COOKIE_HEADERS;
  const browser = { origin: url, 'user-agent': userAgent };
  const asked = await postJson(`${url}/api/sign-in`, { email }, browser);
  if (!asked.ok) throw new Error(`${email} could not ask for a code: ${await asked.text()}`);
  const code = await mailedCode();
  const headers = { ...browser, [signIn]: asked.headers.get(signIn) ?? '' };
  const entered = await postJson(`${url}/api/sign-in/code`, { code }, headers);
  if (!entered.ok) throw new Error(`${email} could not sign in: ${await entered.text()}`);
  return { [session]: entered.headers.get(session) ?? '' };
}
