/** All meanings except `for now` and `unclear` are final. */
export type ReplyMeaning =
  /** The e-mail address doesn't exist or never accepts mail. */
  | 'no such address'
  | 'mailbox full'
  /** Refused by policy, reputation or authentication. */
  | 'refused'
  /** Refused because of the message's size, form or content. */
  | 'message'
  | 'for now'
  /** The reply contains no decisive code. */
  | 'unclear';

/**
 * The three digits and the enhanced status code (RFC 3463) at the start of a reply (RFC 2034), or in a field of a report (RFC
 * 3464), with or without its type ("smtp;"). Some servers prefix a #.
 */
const STATUS_CODES =
  /^\s*(?:[\w-]+\s*;\s*)?(?:([245])\d\d(?:[ -]\s*|$))?(?:#?([245])\.(\d{1,3})\.(\d{1,3})(?![\d.]))?/;

/**
 * No such mailbox (5.1.1), no such host (5.1.2), bad syntax (5.1.3), moved (5.1.6), no mail at the domain (5.1.10, RFC 7505).
 * Excluded: 5.1.0 is vague; 5.1.7 and 5.1.8 concern the sender; relays send 5.4.4 when their own DNS fails.
 */
const NO_SUCH_ADDRESS = new Set(['1.1', '1.2', '1.3', '1.6', '1.10']);

/**
 * 5.2.1 should mean a closed mailbox, but servers also send it for spam, rate limits and temporary locks. It counts as
 * closed only with one of these words.
 */
const CLOSED = /\b(?:disabled|deactivated|inactive|not active|no longer active|closed|deleted)\b/i;
const NOT_CLOSED = /quarantin|spam|temporar|suspend|\brate\b|\btoo (?:quickly|many|much)\b/i;

/**
 * Uses only the code of a reply, except for 5.2.1. "User unknown" has a hundred wordings and also occurs in replies to blocked
 * senders.
 * @param reply such as `550 5.1.1 No such user`, `5.1.1` or `smtp; 550 5.1.1 …`
 */
export function meaningOf(reply: string): ReplyMeaning {
  const [, basicClass, enhancedClass, subject = '', detail = ''] = STATUS_CODES.exec(reply) ?? [];
  const severity = basicClass ?? enhancedClass;
  if (severity === '4' || enhancedClass === '4') return 'for now';
  if (severity !== '5' || enhancedClass !== '5') return 'unclear';
  const code = `${Number(subject)}.${Number(detail)}`;
  if (NO_SUCH_ADDRESS.has(code)) return 'no such address';
  if (code === '2.1')
    return NOT_CLOSED.test(reply) ? 'refused' : CLOSED.test(reply) ? 'no such address' : 'unclear';
  if (code === '2.2') return 'mailbox full';
  if (code === '2.3' || code.startsWith('3.') || code.startsWith('6.')) return 'message';
  return code.startsWith('7.') ? 'refused' : 'unclear';
}

const REPLY_MAX_LENGTH = 500;
/** A reply can have megabytes. */
const READ_MAX_LENGTH = 4 * REPLY_MAX_LENGTH;

const CODES_ABOUT_US = /^\s*(?:50[0234]|53[0458])\b|^\s*5\d\d[ -]#?5\.(?:7\.(?:3|8|9|11|54)|1\.[78]|4\.5)\b/;
const WORDS_ABOUT_US = [
  /\brelay(?:ing)?\b/i,
  /\b(?:helo|ehlo)\b/i,
  /\b(?:un)?authenticat/i,
  /\bsender\b.*\b(?:rejected|denied|refused|blocked|not (?:allowed|owned|verified))/i,
  /\bnot (?:allowed|permitted|authori[sz]ed) to send\b|\bnot verified\b|\bsandbox\b/i,
  /\b(?:client host|your (?:ip|host|server|network))\b/i,
  /\b(?:your|sender|sending|smtp|customer) (?:\w+ )?(?:account|service|domain)\b.*\b(?:suspend|block|disable|deactivat|lock|restrict|terminat)/i,
  /\baccount (?:(?:is|has been|was) )?(?:suspended|blocked|terminated)\b/i,
  /\b(?:sending|daily|hourly|monthly|per (?:day|hour|month))\b.*\b(?:limit|quota)\b/i,
  /\b(?:limit|quota)\b.*\b(?:sending|daily|hourly|monthly|per (?:day|hour|month))\b/i,
];

/**
 * True if a final reply concerns the sender (greeting, login, quota, reputation), so the next recipient would be refused too.
 * Also considers the reply's words, because a mistake only causes a mail to be retried until its code expires.
 */
export function isAboutUs(reply: string): boolean {
  // Some words would take quadratic time.
  const start = reply.slice(0, READ_MAX_LENGTH);
  return (
    !isAboutAddress(start) &&
    (CODES_ABOUT_US.test(start) || WORDS_ABOUT_US.some((words) => words.test(start)))
  );
}

export const isAboutAddress = (reply: string): boolean =>
  ['no such address', 'mailbox full'].includes(meaningOf(reply));

/** @returns `no such address` only if no reply contradicts it */
export function meaningOfAll(replies: readonly string[]): ReplyMeaning {
  const clear = replies.map(meaningOf).filter((meaning) => meaning !== 'unclear');
  return clear.find((meaning) => meaning !== 'no such address') ?? clear[0] ?? 'unclear';
}

/** Shortens a reply and removes characters that PostgreSQL cannot store. */
export const storedReply = (reply: string): string =>
  reply
    // Cut first, so a long reply takes little time.
    .slice(0, READ_MAX_LENGTH)
    .toWellFormed()
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, REPLY_MAX_LENGTH)
    .toWellFormed();
