// Lengths of typed text and the waiting time before Resend, for the page and the server (specification, sections 5 and 9). The
// server's own limits are in server/settings/fixed-limits.ts, and limits that an operator may set in settings-table.ts.

export const CODE_LENGTH = 6;
export const NAME_MIN_LENGTH = 2;
export const NAME_MAX_LENGTH = 200;
/** RFC 5321, section 4.5.3.1.3: a path of 256 octets, minus its angle brackets. */
export const EMAIL_MAX_LENGTH = 254;
/** RFC 5321, section 4.5.3.1.1, and RFC 1035, section 2.3.4. In UTF-8 octets. */
export const EMAIL_LOCAL_PART_MAX_OCTETS = 64;
export const DOMAIN_LABEL_MAX_OCTETS = 63;
export const RESEND_COUNTDOWN_SECONDS = 60;

/** Default maximum length of an answer to a custom question, in characters. */
const ANSWER_MAX_LENGTH = { text: 200, telephone: 40, number: 15, url: 300, 'long text': 1000 } as const;

export const longestAnswer = ({
  kind,
  maxLength,
  options = [],
}: {
  readonly kind: keyof typeof ANSWER_MAX_LENGTH | 'choice' | 'choices';
  readonly maxLength?: number | undefined;
  readonly options?: readonly string[] | undefined;
}): number => {
  if (kind === 'choice') return Math.max(0, ...options.map((option) => option.length));
  return kind === 'choices' ? options.join('; ').length : (maxLength ?? ANSWER_MAX_LENGTH[kind]);
};
