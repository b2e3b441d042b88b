// Who runs the mailbox behind an address, as far as its domain says.

export const MAIL_PLATFORMS = ['Google', 'Microsoft', 'Yahoo', 'Apple', 'other'] as const;
export type MailPlatform = (typeof MAIL_PLATFORMS)[number];

/** Domains of the providers themselves; whose mail a company's domain is at, its name does not tell. */
const DOMAINS: readonly (readonly [RegExp, MailPlatform])[] = [
  [/^(gmail|googlemail)\.com$/, 'Google'],
  [/^((outlook|hotmail|live)\.[a-z]{2,3}(\.[a-z]{2})?|msn\.com|passport\.com)$/, 'Microsoft'],
  // Not yahoo.co.jp: that is another company, with a mail service of its own. AOL's mailboxes are at Yahoo.
  [/^(?!yahoo\.co\.jp$)(yahoo\.[a-z]{2,3}(\.[a-z]{2})?|(ymail|rocketmail|myyahoo|aol|aim)\.com)$/, 'Yahoo'],
  [/^(icloud|me|mac)\.com$/, 'Apple'],
];

/** @param domain in lower case */
export const mailPlatformOf = (domain: string): MailPlatform =>
  DOMAINS.find(([pattern]) => pattern.test(domain))?.[1] ?? 'other';
