// What the answer of a mail server says about the address it was asked about. Pure: it reads an answer and knows nothing else.

/**
 * `no such address`: nobody can be reached there, and will not be by trying again. `mailbox full`, `refused` (policy,
 * reputation, authentication) and `message` (its size, form or content) are for good too, and say nothing against the address.
 * `for now`: another try may do. `unclear`: it does not say.
 */
export type AnswerMeaning =
  'no such address' | 'mailbox full' | 'refused' | 'message' | 'for now' | 'unclear';

/**
 * An enhanced status code (RFC 3463) where it belongs: at the beginning of the answer, behind the three digits (RFC 2034), or
 * in the field of a report (RFC 3464), which may name its type ("smtp;"). Some servers put a # before it.
 */
const ANSWER =
  /^\s*(?:[\w-]+\s*;\s*)?(?:([245])\d\d(?:[ -]\s*|$))?(?:#?([245])\.(\d{1,3})\.(\d{1,3})(?![\d.]))?/;

/**
 * The codes of an address that does not exist or takes no mail: no such mailbox (5.1.1), no such host (5.1.2), no such form of
 * address (5.1.3), moved (5.1.6), a domain without mail (5.1.10, RFC 7505), a mailbox that was closed (5.2.1). Not among them:
 * 5.1.0, which says no more than "something about the address", 5.1.7 and 5.1.8, which are about the sender's, and 5.4.4,
 * which a relay also says when its own DNS is ill.
 */
const NO_SUCH_ADDRESS = new Set(['1.1', '1.2', '1.3', '1.6', '1.10', '2.1']);

/** Gmail answers 5.2.1 to too much mail in a short time, too: its owner is there, and perhaps being list-bombed. */
const TOO_MUCH_AT_ONCE = /\brate\b|\btoo (?:quickly|many|much)\b/i;

/**
 * Reads one answer. The code alone decides, not the words: "user unknown" is written in a hundred ways and languages, and
 * stands also in answers to blocked senders. Who has no code is asked again by the next mail; who is put on the list by
 * mistake would not hear from us any more.
 * @param answer of a mail server, such as `550 5.1.1 No such user`; or a field of a report, such as `5.1.1` or `smtp; 550 5.1.1 …`
 */
export function meaningOf(answer: string): AnswerMeaning {
  const [, basic, kind, subject = '', detail = ''] = ANSWER.exec(answer) ?? [];
  const severity = basic ?? kind;
  if (severity === '4' || kind === '4') return 'for now';
  if (severity !== '5' || kind !== '5') return 'unclear';
  const code = `${Number(subject)}.${Number(detail)}`;
  if (NO_SUCH_ADDRESS.has(code))
    return code === '2.1' && TOO_MUCH_AT_ONCE.test(answer) ? 'refused' : 'no such address';
  if (code === '2.2') return 'mailbox full';
  if (code === '2.3' || code.startsWith('3.') || code.startsWith('6.')) return 'message';
  return code.startsWith('7.') ? 'refused' : 'unclear';
}

/**
 * What several answers about one delivery say together, such as the status of a report and the answer that it quotes.
 * @returns `no such address` only when none of them says otherwise
 */
export function meaningOfAll(answers: readonly string[]): AnswerMeaning {
  const clear = answers.map(meaningOf).filter((meaning) => meaning !== 'unclear');
  return clear.find((meaning) => meaning !== 'no such address') ?? clear[0] ?? 'unclear';
}
