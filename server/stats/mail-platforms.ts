export const MAIL_PLATFORMS = [
  'Google',
  'Google Workspace',
  'Microsoft',
  'Microsoft 365',
  'Yahoo',
  'Apple',
  'GMX, WEB.DE',
  'Proton',
  'Zoho',
  'Fastmail',
  'IONOS',
  'OVH',
  'Rackspace',
  'Amazon',
  'Proofpoint',
  'Mimecast',
  'Barracuda',
  'Cisco',
  'Trend Micro',
  'Sophos',
  'Symantec',
  'Hornetsecurity',
  'other',
] as const;
export type MailPlatform = (typeof MAIL_PLATFORMS)[number];

/** Consumer domains, which need no DNS query. */
const DOMAINS: readonly (readonly [RegExp, MailPlatform])[] = [
  [/^(gmail|googlemail)\.com$/, 'Google'],
  [/^((outlook|hotmail|live)\.[a-z]{2,3}(\.[a-z]{2})?|msn\.com|passport\.com)$/, 'Microsoft'],
  // Not yahoo.co.jp, a different company. AOL's mailboxes are at Yahoo.
  [/^(?!yahoo\.co\.jp$)(yahoo\.[a-z]{2,3}(\.[a-z]{2})?|(ymail|rocketmail|myyahoo|aol|aim)\.com)$/, 'Yahoo'],
  [/^(icloud|me|mac)\.com$/, 'Apple'],
  [/^(gmx\.(net|de|at|ch|com)|web\.de)$/, 'GMX, WEB.DE'],
  [/^(proton\.me|protonmail\.(com|ch)|pm\.me)$/, 'Proton'],
];

/**
 * From the providers' instructions for MX records. A filter in front of a mailbox (Proofpoint and following)
 * counts as the platform, because it decides what arrives.
 */
const MAIL_SERVERS: readonly (readonly [RegExp, MailPlatform])[] = [
  [/^(smtp|(alt\d\.)?aspmx\.l)\.google\.com$|^aspmx\d\.googlemail\.com$/, 'Google Workspace'],
  [/\.google(mail)?\.com$/, 'Google'],
  [/\.olc\.protection\.outlook\.com$/, 'Microsoft'],
  // mx.microsoft is for tenants with DNSSEC.
  [/\.mail\.protection\.outlook\.com$|\.mx\.microsoft$/, 'Microsoft 365'],
  [/\.yahoodns\.net$|\.biz\.mail\.yahoo\.com$/, 'Yahoo'],
  [/\.mail\.icloud\.com$/, 'Apple'],
  [/\.gmx\.net$|\.web\.de$/, 'GMX, WEB.DE'],
  [/\.protonmail\.ch$/, 'Proton'],
  // One top-level domain per region.
  [/\.zoho(mail|cloud)?\.(com|eu|in|jp|ca|sa|ae|uk|com\.au|com\.cn)$/, 'Zoho'],
  [/\.messagingengine\.com$/, 'Fastmail'],
  // The last three are former names.
  [/\.(ionos\.(de|com|co\.uk|es|fr|it|mx|ca|at)|kundenserver\.de|perfora\.net|1and1\.[a-z.]{2,6})$/, 'IONOS'],
  [/\.ovh\.(net|ca|us)$|\.ovhcloud\.com$/, 'OVH'],
  [/\.emailsrvr\.com$/, 'Rackspace'],
  // SES and WorkMail.
  [/^inbound-smtp\.[a-z0-9-]+\.(amazonaws|awsapps)\.com$/, 'Amazon'],
  // ppe-hosted.com is Proofpoint Essentials.
  [/\.(g?pphosted|ppe-hosted)\.com$/, 'Proofpoint'],
  [/\.mimecast(-offshore)?\.(com|co\.za)$/, 'Mimecast'],
  [/\.barracudanetworks\.com$/, 'Barracuda'],
  [/\.iphmx\.com$/, 'Cisco'],
  [/\.tmes\.trendmicro\.(com|eu|co\.jp|com\.au)$/, 'Trend Micro'],
  [/\.hydra\.sophos\.com$/, 'Sophos'],
  [/\.messagelabs\.com$/, 'Symantec'],
  [/\.(hornetsecurity\.(com|ch)|antispameurope\.com)$/, 'Hornetsecurity'],
];

/**
 * @param domain in lower case
 * @returns null for other domains
 */
export const platformOfDomain = (domain: string): MailPlatform | null => platformIn(DOMAINS, domain);

/**
 * @param host of an MX record, in any case
 * @returns `other` if unknown
 */
export const platformOfMailServer = (host: string): MailPlatform =>
  platformIn(MAIL_SERVERS, host.toLowerCase().replace(/\.$/, '')) ?? 'other';

const platformIn = (
  patterns: readonly (readonly [RegExp, MailPlatform])[],
  name: string,
): MailPlatform | null => patterns.find(([pattern]) => pattern.test(name))?.[1] ?? null;
