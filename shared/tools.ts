// Exports for CRM and mail tools. A custom question must not use one of their headings.
import type { TOUCH_NAMES } from '#shared/funnel.ts';

export type LeadValue =
  | (typeof TOUCH_NAMES)[number]
  | 'email'
  | 'name'
  | 'first_name'
  | 'last_name'
  | 'company'
  | 'company_and_name'
  | 'source'
  | 'last_verified_at'
  | 'consent_given_at'
  | 'consent_text'
  | 'news_consent_given_at'
  | 'news_consent_text'
  | 'legal_basis'
  | 'unsubscribe_url';

type Tool = {
  readonly title: string;
  readonly about: string;
  /** The content of each column, by heading and in order. */
  readonly columns: Readonly<Record<string, LeadValue>>;
  /** Appended if the form has a box for news. */
  readonly news: Readonly<Record<string, LeadValue>>;
};

export const TOOLS = {
  hubspot: {
    title: 'HubSpot',
    about: 'contacts',
    columns: {
      Email: 'email',
      'First Name': 'first_name',
      'Last Name': 'last_name',
      'Company Name': 'company',
      "Legal basis for processing contact's data": 'legal_basis',
      'Lead Source': 'source',
      'Consent Given At': 'consent_given_at',
      'Consent Text': 'consent_text',
      'Unsubscribe URL': 'unsubscribe_url',
      'UTM Campaign': 'utm_campaign',
      'UTM Source': 'utm_source',
      'UTM Medium': 'utm_medium',
      GCLID: 'gclid',
    },
    news: { 'News Consent Given At': 'news_consent_given_at', 'News Consent Text': 'news_consent_text' },
  },
  salesforce: {
    title: 'Salesforce',
    about: 'leads, for the data import wizard',
    columns: {
      'First Name': 'first_name',
      // Salesforce requires a last name.
      'Last Name': 'last_name',
      Company: 'company',
      Email: 'email',
      'Lead Source': 'source',
      'Consent Given At': 'consent_given_at',
      'Consent Text': 'consent_text',
      'Unsubscribe URL': 'unsubscribe_url',
      'UTM Campaign': 'utm_campaign',
    },
    news: { 'News Consent Given At': 'news_consent_given_at', 'News Consent Text': 'news_consent_text' },
  },
  pipedrive: {
    title: 'Pipedrive',
    about: 'leads with person and organisation',
    columns: {
      'Lead - Title': 'company_and_name',
      'Person - Name': 'name',
      'Person - Email': 'email',
      'Organization - Name': 'company',
      'Lead - Source': 'source',
      'Person - Consent given at': 'consent_given_at',
      'Person - Consent text': 'consent_text',
      'Person - Unsubscribe URL': 'unsubscribe_url',
      'Lead - UTM Campaign': 'utm_campaign',
    },
    news: {
      'Person - News consent given at': 'news_consent_given_at',
      'Person - News consent text': 'news_consent_text',
    },
  },
  mailchimp: {
    title: 'Mailchimp',
    about: 'subscribed contacts',
    columns: {
      'Email Address': 'email',
      'First Name': 'first_name',
      'Last Name': 'last_name',
      Company: 'company',
      Tags: 'source',
      'Opt-in Time': 'consent_given_at',
      'Confirmation Time': 'last_verified_at',
      'Unsubscribe URL': 'unsubscribe_url',
      'UTM Campaign': 'utm_campaign',
    },
    news: { 'News Opt-in Time': 'news_consent_given_at' },
  },
  kit: {
    title: 'Kit',
    about: 'subscribers',
    columns: {
      email: 'email',
      first_name: 'first_name',
      last_name: 'last_name',
      company: 'company',
      tags: 'source',
      consent_given_at: 'consent_given_at',
      consent_text: 'consent_text',
      unsubscribe_url: 'unsubscribe_url',
      utm_campaign: 'utm_campaign',
    },
    news: { news_consent_given_at: 'news_consent_given_at', news_consent_text: 'news_consent_text' },
  },
  brevo: {
    title: 'Brevo',
    about: 'contacts',
    columns: {
      EMAIL: 'email',
      FIRSTNAME: 'first_name',
      LASTNAME: 'last_name',
      COMPANY: 'company',
      SOURCE: 'source',
      CONSENT_GIVEN_AT: 'consent_given_at',
      CONSENT_TEXT: 'consent_text',
      UNSUBSCRIBE_URL: 'unsubscribe_url',
      UTM_CAMPAIGN: 'utm_campaign',
    },
    news: { NEWS_CONSENT_GIVEN_AT: 'news_consent_given_at', NEWS_CONSENT_TEXT: 'news_consent_text' },
  },
  activecampaign: {
    title: 'ActiveCampaign',
    about: 'contacts with account',
    columns: {
      Email: 'email',
      'First Name': 'first_name',
      'Last Name': 'last_name',
      'Account Name': 'company',
      Tags: 'source',
      'Consent Given At': 'consent_given_at',
      'Consent Text': 'consent_text',
      'Unsubscribe URL': 'unsubscribe_url',
      'UTM Campaign': 'utm_campaign',
    },
    news: { 'News Consent Given At': 'news_consent_given_at', 'News Consent Text': 'news_consent_text' },
  },
} as const satisfies Record<string, Tool>;

export type ToolName = keyof typeof TOOLS;
export const TOOL_NAMES = Object.keys(TOOLS) as ToolName[];
