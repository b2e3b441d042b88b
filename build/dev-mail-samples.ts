import type { ShownMail } from '#build/dev-inbox-page.ts';
import { DAY_MS, HOUR_MS } from '#server/platform/time.ts';
import type { Campaign } from '#server/campaign/campaign.ts';
import { composeBreakerNotice, composeNoticeEmail } from '#server/mail/templates/notice-mail.ts';
import { composeCodeEmail } from '#server/mail/templates/code-mail.ts';
import { composeDigestEmail } from '#server/mail/templates/daily-weekly-digest.ts';
import { composeGuideEmail } from '#server/mail/templates/guide-mail.ts';
import type { NewLead } from '#server/db/tables/leads.ts';
import { brandingOf } from '#server/mail/templates/letter.ts';
import { composeNewLeadEmail } from '#server/mail/templates/new-lead-mail.ts';
import { storedAnswers, sampleAnswers } from '#shared/own-fields.ts';

const NOON = Date.UTC(2026, 3, 14, 12);
const HOST = 'guide.example.com';
const CODE = { digits: '482913', reference: 'QFX', validForMs: 600_000 };
const DESK_URL = 'https://desk.example.com';
const UNSUBSCRIBE = `https://${HOST}/api/unsubscribe?t=sample`;

const lead = (name: string, company: string, email: string, minute: number, flags = ''): NewLead => ({
  name,
  company,
  answers: null,
  email,
  attribution: JSON.stringify({ utm_source: 'newsletter', utm_campaign: 'spring' }),
  flags,
  first_verified_at: NOON + minute * 60_000,
  news: 0,
});
const ADA = lead('Ada Lovelace', 'Analytical Engines', 'ada@example.com', 5);
const OTHERS = [
  lead('Grace Hopper', 'Compilers & Sons', 'grace@example.net', 12),
  lead('Edsger Dijkstra', 'Shortest Path GmbH', 'edsger@example.org', 47, 'free-mail'),
];

const FIGURES = {
  from: NOON - 12 * HOUR_MS,
  before: 2,
  steps: [
    { step: 'seen', count: 412 },
    { step: 'opened', count: 57 },
    { step: 'asked', count: 9 },
    { step: 'mailed', count: 9 },
    { step: 'entered', count: 3 },
    { step: 'whole', count: 2 },
  ],
  sources: [
    { source: 'newsletter', leads: 2 },
    { source: 'direct', leads: 1 },
  ],
};

export function sampleMails(campaign: Campaign): Pick<ShownMail, 'kind' | 'subject' | 'text' | 'html'>[] {
  const { codeEmail, guideEmail, breakerEmail, newLeadEmail, site, form } = campaign;
  const ada = { ...ADA, answers: storedAnswers(sampleAnswers(form.fields)) };
  const leads = [ada, ...OTHERS];
  const about = { ...brandingOf(campaign), timeZone: 'UTC', host: HOST, deskUrl: DESK_URL };
  const { title } = about;
  const guide = { ...about, postalAddress: site.postalAddress, unsubscribe: UNSUBSCRIBE };
  const notice = composeBreakerNotice(breakerEmail, { reason: 'too many codes a minute', title });
  const digest = (kind: string, days: number) => {
    const figures = { ...FIGURES, to: FIGURES.from + days * DAY_MS, days };
    return { kind, ...composeDigestEmail(newLeadEmail, { ...about, leads, count: leads.length, figures }) };
  };
  return [
    { kind: 'code', ...composeCodeEmail(codeEmail, { ...about, ...CODE }) },
    {
      kind: 'guide as a link',
      ...composeGuideEmail(guideEmail, { ...guide, link: `https://${HOST}/api/guide?t=sample` }),
    },
    { kind: 'guide attached', ...composeGuideEmail(guideEmail, { ...guide, link: null }) },
    { kind: 'new lead', ...composeNewLeadEmail(newLeadEmail, { ...about, lead: ada, leadId: 'sample' }) },
    digest('leads of a day', 1),
    ...(newLeadEmail.week === undefined ? [] : [digest('leads of a week', 7)]),
    { kind: 'breaker', ...composeNoticeEmail(about, notice) },
  ];
}
