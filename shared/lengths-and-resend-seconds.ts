// The numbers that browser and server both rely on (specification, section 9). Limits that only the server
// knows (how often, how many) stand on one page, server/settings/tries-and-rates.ts.

export const CODE_LENGTH = 6;
export const NAME_MIN_LENGTH = 2;
export const NAME_MAX_LENGTH = 200;
/** RFC 5321, section 4.5.3.1.3: a path of 256 octets, less its two angle brackets. */
export const EMAIL_MAX_LENGTH = 254;
/** RFC 5321, sections 4.5.3.1.1 and 4.5.3.1.2, and RFC 1035, section 2.3.4. Octets of UTF-8. */
export const EMAIL_LOCAL_PART_MAX_OCTETS = 64;
export const DOMAIN_MAX_OCTETS = 255;
export const DOMAIN_LABEL_MAX_OCTETS = 63;
/** What the page counts down before it offers another code, and the server's default for how soon it sends one. */
export const RESEND_COUNTDOWN_SECONDS = 60;

/** Longest answer to a question of campaign/form.yaml in characters, where it does not say. By the kind of its field. */
const ANSWER_MAX_LENGTH = { text: 200, telephone: 40, number: 15, url: 300, 'long text': 1000 } as const;

/** Characters that an answer to a field of campaign/form.yaml may have: of a choice, the longest option; of choices, all of them. */
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
