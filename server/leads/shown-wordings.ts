// A receipt proves the wording that the visitor saw. Therefore the page states the versions of the wordings that it showed.
import type { Campaign } from '#server/campaign/campaign.ts';
import type { Challenge } from '#server/codes/challenges.ts';
import type { ConsentPurpose } from '#server/db/all-tables.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { isKnownConsentWording, NOT_STATED } from '#server/db/tables/consent-wordings.ts';
import type { LeadForm } from '#shared/lead.ts';

const WORDING_VERSION = /^[0-9a-f]{12}$/;

export type ShownWordings =
  | { readonly type: 'found'; readonly consentVersion: string; readonly newsConsentVersion: string | null }
  /** The page stated a version that a receipt could not prove. */
  | { readonly type: 'unknown'; readonly field: 'consent' | 'newsConsentVersion' };

/**
 * Finds the wordings that the page showed. Never guesses them, because they may have changed since the page was opened.
 * @param stated the value of x-consent-version. The version for news is in the form
 * @param findOpen finds the visitor's open challenge for the same e-mail address
 */
export async function findShownWordings(
  db: Db,
  { consent, variants }: Pick<Campaign, 'consent' | 'variants'>,
  lead: LeadForm,
  stated: string | readonly string[] | undefined,
  findOpen: () => Promise<Challenge | undefined>,
): Promise<ShownWordings> {
  const current = [consent, ...variants.map((variant) => variant.consent)];

  const isKnown = async (purpose: ConsentPurpose, version: string): Promise<boolean> => {
    if (!WORDING_VERSION.test(version)) return false;
    if (current.some((shown) => (purpose === 'news' ? shown.news : shown)?.version === version)) return true;
    return current.some(({ refuseEarlier }) => refuseEarlier)
      ? hasAgreed(await findOpen(), lead, purpose, version)
      : isKnownConsentWording(db, version, purpose);
  };

  const consentVersion = stated === undefined ? NOT_STATED : String(stated);
  if (stated !== undefined && !(await isKnown('guide', consentVersion)))
    return { type: 'unknown', field: 'consent' };
  const { newsConsentVersion = null } = lead;
  if (newsConsentVersion !== null && !(await isKnown('news', newsConsentVersion)))
    return { type: 'unknown', field: 'newsConsentVersion' };
  return { type: 'found', consentVersion, newsConsentVersion };
}

/** Returns true if the visitor has already agreed to this version, and only asks for another code. */
const hasAgreed = (
  sent: Challenge | undefined,
  lead: LeadForm,
  purpose: ConsentPurpose,
  version: string,
): boolean =>
  sent?.[purpose === 'news' ? 'news_consent_version' : 'consent_version'] === version &&
  sent.name === lead.name &&
  sent.company === lead.company;
