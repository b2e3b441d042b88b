// What a mail server's reply says about the address: reads its codes. Only `no such address` suppresses the address.

/** What a reply means. All but `for now` and `unclear` are final; only `no such address` is about the address. */
export type AnswerMeaning =
  /** The address does not exist or takes no mail, now and later. */
  | 'no such address'
  | 'mailbox full'
  /** By policy, reputation or authentication. */
  | 'refused'
  /** The message's size, form or content. */
  | 'message'
  /** Another try may succeed. */
  | 'for now'
  /** The reply has no code that says. */
  | 'unclear';

/**
 * An enhanced status code (RFC 3463) where it may stand: at the beginning of the reply, after the three digits (RFC 2034), or
 * in the field of a report (RFC 3464), which may name its type ("smtp;"). Some servers put a # before it.
 */
const ANSWER =
  /^\s*(?:[\w-]+\s*;\s*)?(?:([245])\d\d(?:[ -]\s*|$))?(?:#?([245])\.(\d{1,3})\.(\d{1,3})(?![\d.]))?/;

/**
 * The codes of an address that does not exist or takes no mail: no such mailbox (5.1.1), no such host (5.1.2), bad form of
 * address (5.1.3), moved (5.1.6), a domain without mail (5.1.10, RFC 7505). Not among them: 5.1.0, which only says "something
 * about the address"; 5.1.7 and 5.1.8, which are about the sender; and 5.4.4, which a relay also sends when its own DNS fails.
 */
const NO_SUCH_ADDRESS = new Set(['1.1', '1.2', '1.3', '1.6', '1.10']);

/**
 * 5.2.1 should mean a closed mailbox. Servers also reply it to spam, to too much mail at once, and for a mailbox that is locked for
 * some days, so it counts only with words that say what it means.
 */
const CLOSED = /\b(?:disabled|deactivated|inactive|not active|no longer active|closed|deleted)\b/i;
const STILL_THERE = /quarantin|spam|temporar|suspend|\brate\b|\btoo (?:quickly|many|much)\b/i;

/**
 * Reads one reply. The code decides, not the words, but for 5.2.1: "user unknown" is written in a hundred ways and languages, and also
 * stands in replies to blocked senders. An address whose reply has no code is tried again by the next mail; an address that is
 * suppressed by mistake would get no mail any more.
 * @param answer a mail server's reply, such as `550 5.1.1 No such user`; or a field of a report, such as `5.1.1` or `smtp; 550 5.1.1 …`
 */
export function meaningOf(answer: string): AnswerMeaning {
  const [, basic, kind, subject = '', detail = ''] = ANSWER.exec(answer) ?? [];
  const severity = basic ?? kind;
  if (severity === '4' || kind === '4') return 'for now';
  if (severity !== '5' || kind !== '5') return 'unclear';
  const code = `${Number(subject)}.${Number(detail)}`;
  if (NO_SUCH_ADDRESS.has(code)) return 'no such address';
  if (code === '2.1')
    return STILL_THERE.test(answer) ? 'refused' : CLOSED.test(answer) ? 'no such address' : 'unclear';
  if (code === '2.2') return 'mailbox full';
  if (code === '2.3' || code.startsWith('3.') || code.startsWith('6.')) return 'message';
  return code.startsWith('7.') ? 'refused' : 'unclear';
}

/** Bad command order or parameters, or a login first: nothing that a recipient could cause. */
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
 * Whether a final reply to a recipient or a message is about us (greeting, login, quota, reputation), so that the next recipient would
 * be refused, too. Only then do words count: at worst, a mail is tried again until its code expires.
 */
export const isAboutUs = (answer: string): boolean =>
  !isAboutAddress(answer) &&
  (CODES_ABOUT_US.test(answer) || WORDS_ABOUT_US.some((words) => words.test(answer)));

/** Whether a reply says that the mailbox is not there, or full. */
export const isAboutAddress = (answer: string): boolean =>
  ['no such address', 'mailbox full'].includes(meaningOf(answer));

/**
 * Combines several replies about one delivery, such as the status of a report and the reply that it quotes.
 * @returns `no such address` only when no reply says otherwise
 */
export function meaningOfAll(answers: readonly string[]): AnswerMeaning {
  const clear = answers.map(meaningOf).filter((meaning) => meaning !== 'unclear');
  return clear.find((meaning) => meaning !== 'no such address') ?? clear[0] ?? 'unclear';
}

const REPLY_MAX_LENGTH = 500;

/** Cleans a mail server's reply, so PostgreSQL can store it and an operator can read it. */
export const keptReply = (reply: string): string =>
  reply
    // No more than can matter, before anything looks at every character.
    .slice(0, 4 * REPLY_MAX_LENGTH)
    .toWellFormed()
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, REPLY_MAX_LENGTH)
    .toWellFormed();
