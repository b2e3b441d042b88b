// Decides from the cells of a row, or from a file's name, whether a person may get mail.
import type { Columns, StatusColumn } from '#desk/import/find-columns.ts';
import { headingKey, keysOf, OPT_OUT_WORDS, plainHeading } from '#shared/import-headings.ts';

export type Refusal = 'unsubscribed' | 'bounced' | 'complained';

/** Leaves a person out, unless the operator accepts it. */
export type ExcludingStatus = {
  readonly status: string;
  /** Null for a status such as "pending", which only the operator can judge. */
  readonly refusal: Refusal | null;
};

export function excludingStatuses(cells: readonly string[], { statuses }: Columns): ExcludingStatus[] {
  return statuses.flatMap(({ index, heading, kind }) =>
    (cells[index] ?? '')
      // Only tags are separated by commas or bars, which a status, a date or Brevo's channels may contain.
      .split(kind === 'other' ? /[,;|]/ : ';')
      .map((part) => part.trim())
      .filter((text) => text !== '' && !allowsMail(kind, text))
      .map((text) => ({
        status: describeStatus(kind, heading, text),
        refusal: findRefusal(kind, heading, text),
      })),
  );
}

type Kind = StatusColumn['kind'];

function describeStatus(kind: Kind, heading: string, text: string): string {
  switch (kind) {
    case 'status':
    case 'state':
      return text;
    case 'optedOut':
      // Dates and reasons in this column would identify individuals.
      return heading;
    case 'consent':
    case 'other':
      return `${heading}: ${text}`;
  }
}

/** Returns why a person opted out, or null. A bounce counts least, because people can end it themselves. */
export function refusalInRow(cells: readonly string[], columns: Columns): Refusal | null {
  const found = new Set(excludingStatuses(cells, columns).map(({ refusal }) => refusal));
  return (['complained', 'unsubscribed', 'bounced'] as const).find((one) => found.has(one)) ?? null;
}

/**
 * Only these statuses import a person, because a list of refusals would never be complete. "Verified" is missing because some
 * tools say it of e-mail addresses.
 */
const AGREED = keysOf([
  'marketing contact',
  'subscribed',
  'subscriber',
  'active',
  'active subscriber',
  'confirmed',
  'opt in',
  'opted in',
  'opt in confirmed',
  'confirmed opt in',
  'double opt in',
  'double opt in confirmed',
  'double opt in verified',
  'abonniert',
  'abonnent',
  'abonnentin',
  'aktiv',
  'angemeldet',
  'bestätigt',
  'eingewilligt',
  'abonné',
  'abonnée',
  'actif',
]);

const keys = (text: string): ReadonlySet<string> => keysOf(text.split(' '));

// Spreadsheets translate TRUE and FALSE. If FALSE meant "unsubscribed", a whole list would be suppressed.
const TRUE =
  'TRUE WAHR VRAI VERDADERO VERO VERDADEIRO WAAR PRAWDA PRAVDA SANT SAND SANN TOSI IGAZ DOĞRU ИСТИНА';
const FALSE = 'FALSE FALSCH FAUX FALSO ONWAAR FAŁSZ NEPRAVDA FALSKT FALSK USANN EPÄTOSI HAMIS YANLIŞ ЛОЖЬ';
const YES = keys(
  `${TRUE} yes y t 1 on x ja oui sí sim tak ano да evet checked given granted agreed accepted allow allowed ✓ ✔`,
);
const NO = keys(`${FALSE} no n f 0 off nein non nee nej nei não nie ne ei нет hayır never unchecked`);
const NOTHING = keys('none null nil na - [] {}');
/** In a column of opt-outs, these mean that the person did not opt out. */
const STAYED = keys('allow allowed subscribed');
/** Matches 0, 0.0 and 0000-00-00 after {@link headingKey}. */
const ZERO = /^0+$/;
/** Brevo's columns list channels, such as `[email_marketing|sms_marketing]`. */
const MAIL_CHANNEL = /\bemail marketing\b/;
/** Such as `[sms_marketing|push_marketing]`. */
const OTHER_CHANNELS = /^(?:(?:sms|whatsapp|push) marketing ?)+$/;
/** Such as "2024-03-04T10:20:30Z" or "3/4/2024 3:20 PM", after {@link plainHeading}. */
const DATE = /^(?=.*\b(?:19|20)\d\d\b)[\d tz]+(?:am|pm|utc|gmt)?[\d ]*$/;

/** The last two come from our own exports. */
const OPT_OUT_STATES = 'cancell?ed|unconfirmed|unactivated|inactive|disabled|bajas?|unverified|by hand';
/** Such as "unsubscribed", "hard bounce" or "inactive". */
const OPT_OUT = `(?:(?:${OPT_OUT_WORDS})\\S*|(?:${OPT_OUT_STATES})\\b)`;
/**
 * Excludes a person in any column, so the whole cell must match, such as "Unsubscribed at 2024-01-01": a company may be called
 * "Unsubscribed Ltd".
 */
const OPT_OUT_CELL = new RegExp(`^${OPT_OUT}(?: (?:(?:at|on|am) )?\\d.*)?$`);
/**
 * Tells refusals from other statuses that exclude a person, so a part may match, such as "member unsubscribed". "Inactive" counts
 * only as the first word.
 */
const OPT_OUT_ANYWHERE = new RegExp(`^${OPT_OUT}|(?:${OPT_OUT_WORDS})\\S*`);

/** Kit's column "state" holds statuses. Unlike its other statuses, these are never a region of a country. */
const UNSURE_STATES = keysOf(['pending', 'blocked', 'paused']);

/** {@link StatusColumn} describes the kinds. */
function allowsMail(kind: Kind, text: string): boolean {
  const plain = plainHeading(text);
  const key = headingKey(text);
  switch (kind) {
    case 'status':
      return AGREED.has(key);
    case 'consent':
      return AGREED.has(key) || YES.has(key) || DATE.test(plain) || MAIL_CHANNEL.test(plain);
    case 'optedOut':
      return (
        [NO, NOTHING, STAYED].some((some) => some.has(key)) ||
        ZERO.test(key) ||
        OTHER_CHANNELS.test(plain) ||
        key.startsWith('http')
      );
    case 'state':
      return !OPT_OUT_CELL.test(plain) && !UNSURE_STATES.has(key);
    case 'other':
      return !OPT_OUT_CELL.test(plain);
  }
}

/** Such as "never subscribed", which does not refuse anything. */
const NOT_YET = /^un(?:confirmed|activated|verified)\b|(?:non|not|never) ?subscri/;

function findRefusal(kind: Kind, heading: string, text: string): Refusal | null {
  const plain = plainHeading(text);
  if (kind === 'optedOut') {
    const subject = plainHeading(heading);
    // Klaviyo and Postmark name the reason in the cell. A person who unsubscribed may also give spam as the reason.
    return classifyRefusal(subject.includes('suppress') ? `${subject} ${plain}` : subject);
  }
  if (kind === 'consent' && NO.has(headingKey(text)))
    // "No" in a column such as "double opt in" may mean that a confirmation is still missing.
    return /opt in|confirmed/.test(plainHeading(heading)) ? null : 'unsubscribed';
  return OPT_OUT_ANYWHERE.test(plain) && !NOT_YET.test(plain) ? classifyRefusal(plain) : null;
}

function classifyRefusal(plain: string): Refusal {
  if (/complain|spam|abuse/.test(plain)) return 'complained';
  return /bounce|\bclean|invalid|bad address|quarantine|mail disabled/.test(plain)
    ? 'bounced'
    : 'unsubscribed';
}

/** How a list was cleaned, such as "cleaned" and "without bounces" in `customers_cleaned_without_bounces.csv`. */
const CLEANED = / (?:cleaned|archived|deleted)\b|\b(?:without|ohne|sans) .*/g;

/** Mailchimp exports the people of each status as a file, such as `unsubscribed_members_export_3f2a.csv`. */
export function statusOfFile(name: string): ExcludingStatus | null {
  const [word] = OPT_OUT_ANYWHERE.exec(plainHeading(name).replaceAll(CLEANED, '')) ?? [];
  if (word === undefined) return null;
  return { status: `File name: ${word}`, refusal: NOT_YET.test(word) ? null : classifyRefusal(word) };
}

export const isSubscribedFile = (name: string): boolean => /^subscribed\b/.test(plainHeading(name));
