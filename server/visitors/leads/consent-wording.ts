// Which words stood beside the checkbox when it was ticked. The page states their version; the server never guesses, because its
// words may have changed since the page was built or opened.
import type { Db } from '#server/db/engine/connect.ts';
import { isKnownConsentWording, NOT_STATED } from '#server/db/tables/submissions.ts';

export type StatedWording =
  /** One that we know, or {@link NOT_STATED}. */
  | { readonly type: 'known'; readonly version: string }
  /** A version we do not know: the receipt could not say what was agreed to. */
  | { readonly type: 'unknown' };

/** As server/campaign/campaign.ts makes them. */
const VERSION = /^[0-9a-f]{12}$/;

/**
 * Judges what a form says about its wording.
 * @param ownVersion that of the words this server was started with
 * @param header the value of x-consent-version
 */
export async function judgeWording(
  db: Db,
  ownVersion: string,
  header: string | readonly string[] | undefined,
): Promise<StatedWording> {
  if (header === undefined) return { type: 'known', version: NOT_STATED };
  if (typeof header !== 'string' || !VERSION.test(header)) return { type: 'unknown' };
  const known = header === ownVersion || (await isKnownConsentWording(db, header));
  return known ? { type: 'known', version: header } : { type: 'unknown' };
}
