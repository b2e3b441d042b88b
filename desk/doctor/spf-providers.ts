// Finds the SPF term for the sending machines, if it can be derived from SMTP_URL.
import { isIP } from 'node:net';

import { areOfOneOrganisation, organisationOf } from '#desk/doctor/domains.ts';

type Provider = {
  readonly domain: string;
  /** True if the provider keeps our domain in the envelope sender, which SPF checks. */
  readonly keepsSender: boolean;
};

/** Large providers by the domain of their mail servers, taken from their SPF instructions. */
const PROVIDERS: Readonly<Record<string, Provider>> = {
  'amazonaws.com': { domain: 'amazonses.com', keepsSender: false },
  'brevo.com': { domain: 'spf.brevo.com', keepsSender: false },
  'fastmail.com': { domain: 'spf.messagingengine.com', keepsSender: true },
  'gmail.com': { domain: '_spf.google.com', keepsSender: true },
  'google.com': { domain: '_spf.google.com', keepsSender: true },
  'mailgun.org': { domain: 'mailgun.org', keepsSender: false },
  'mailjet.com': { domain: 'spf.mailjet.com', keepsSender: false },
  'office365.com': { domain: 'spf.protection.outlook.com', keepsSender: true },
  'postmarkapp.com': { domain: 'spf.mtasv.net', keepsSender: false },
  'sendgrid.net': { domain: 'sendgrid.net', keepsSender: false },
};

export const providerOf = (mailHost: string): Provider | undefined => PROVIDERS[organisationOf(mailHost)];

export const isGuess = (mailHost: string, domain: string): boolean =>
  providerOf(mailHost) === undefined && isIP(mailHost) === 0 && !areOfOneOrganisation(mailHost, domain);

/** @returns `mx` without a mail server */
export function senderTerm(mailHost: string | null, domain: string): string {
  if (mailHost === null) return 'mx';
  const kind = isIP(mailHost);
  if (kind !== 0) return `ip${kind}:${mailHost}`;
  const provider = providerOf(mailHost);
  if (provider !== undefined) return `include:${provider.domain}`;
  return isGuess(mailHost, domain) ? `include:${organisationOf(mailHost)}` : `a:${mailHost}`;
}
