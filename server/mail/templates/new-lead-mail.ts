// The outbox row contains only the lead's ID. Leads are read when the mail is composed, so erased leads aren't reported.
import { domainToUnicode } from 'node:url';

import * as z from 'zod/mini';

import {
  campaignOf,
  DIRECT,
  ERASED,
  OTHERS,
  readAttribution,
  shownSource,
  sourceOf,
} from '#server/attribution/attribution.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { findNewLead, type NewLead } from '#server/db/tables/leads.ts';
import { addMails } from '#server/jobs/mail-jobs.ts';
import {
  anchor,
  type Block,
  button,
  composeLetter,
  endOf,
  FONT,
  type Letter,
  type LetterKind,
  type LetterParts,
  type Branding,
  brandingOf,
  linesInHtml,
  paragraph,
  startOf,
} from '#server/mail/templates/letter.ts';
import { escapeHtml } from '#server/platform/text.ts';
import { DAY_MS } from '#server/platform/time.ts';
import type { NewLeadEmail } from '#shared/campaign-schema.ts';
import { asciiAddress } from '#shared/lead.ts';
import { answersByLabel, labelAndAnswer } from '#shared/own-fields.ts';
import { fill, pluralForm } from '#shared/words.ts';

const Payload = z.object({ leadId: z.string() });

/** Width of the label column in characters. The answer to a longer question is placed below the question. */
const LABEL_MAX_WIDTH = 24;

export async function queueNewLeadMail(
  tx: Db,
  { leadId, recipients, now }: { leadId: string; recipients: readonly string[]; now: number },
): Promise<void> {
  await addMails(tx, recipients, { now, kind: 'new-lead', payload: { leadId } });
}

export const newLeadKind: LetterKind = {
  maxAgeMs: () => DAY_MS,
  respectsSuppression: false,

  compose: async (parts, row) => {
    const { leadId } = Payload.parse(JSON.parse(row.payload));
    const lead = await findNewLead(parts.database.db, leadId);
    if (lead === undefined) return null;
    return composeNewLeadEmail(parts.campaign.newLeadEmail, { ...pageFactsOf(parts), lead, leadId });
  },
};

export type PageFacts = Branding & {
  readonly timeZone: string;
  readonly host: string;
  /** Null if the browser desk is off. */
  readonly deskUrl: string | null;
};

export const pageFactsOf = ({ config, campaign }: LetterParts): PageFacts => ({
  ...brandingOf(campaign),
  timeZone: config.timeZone,
  deskUrl: config.desk?.url ?? null,
  host: domainToUnicode(new URL(config.publicUrl).hostname),
});

export function composeNewLeadEmail(
  words: NewLeadEmail,
  { lead, leadId, ...page }: PageFacts & { readonly lead: NewLead; readonly leadId: string },
): Letter {
  const { title, host, language } = page;
  const { labels } = words;
  const { email, name, company, first_verified_at: at } = lead;
  const source = sourceOfLead(words, lead);
  const campaign = campaignOfLead(words, lead);
  const remarks = remarksOf(words, lead);
  // Replies go to the lead instead of the site.
  const replyTo = asciiAddress(email);
  const letter = composeLetter(page, {
    subject: fill(words.each.subject, { title, host, name, company }),
    preview: [email, source].join(' · '),
    headline: `${name}, ${company}`,
    blocks: [
      { text: email, html: `<p style="margin:0 0 16px;font-size:18px">${mailTo(email)}</p>` },
      paragraph(fill(words.each.text, { title, host })),
      details(language, [
        ...Object.entries(answersByLabel(lead.answers)),
        [labels.source, source],
        ...(labels.campaign === undefined || campaign === '' ? [] : [[labels.campaign, campaign] as const]),
        [labels.verified, formatDateTime(page, at)],
        ...(remarks === '' ? [] : [[labels.remarks, remarks] as const]),
      ]),
      ...deskButton(words, page, `/person?id=${leadId}`),
    ],
    footnote: footnoteFor(words, page, 'each'),
  });
  return replyTo === null ? letter : { ...letter, replyTo };
}

const deskButton = (words: NewLeadEmail, { deskUrl, accent }: PageFacts, path: string): Block[] =>
  deskUrl === null ? [] : [button(words.each.desk, deskUrl + path, accent)];

export function footnoteFor(
  words: NewLeadEmail,
  { title, host }: PageFacts,
  mail: keyof NewLeadEmail['why'],
): Block {
  const text = fill(words.why[mail], { title, host });
  return { text, html: linesInHtml(text) };
}

function details(language: string, rows: readonly (readonly [label: string, value: string])[]): Block {
  const isShort = (label: string) => label.length <= LABEL_MAX_WIDTH;
  const width = Math.max(...rows.map(([label]) => (isShort(label) ? label.length : 0)));
  const indent = `\n${' '.repeat(width + 2)}`;
  const start = startOf(language);
  return {
    text: rows
      .map(([label, value]) => {
        const answer = value.replaceAll('\n', indent);
        return isShort(label) ? `${label.padEnd(width)}  ${answer}` : `${label}${indent}${answer}`;
      })
      .join('\n'),
    html: `<table style="border-collapse:collapse;margin:0 0 16px;${FONT}">${rows
      .map(
        ([label, value]) =>
          `<tr><th scope="row" align="${start}" style="padding:4px 0;padding-${endOf(language)}:16px;vertical-align:top;font-weight:400;overflow-wrap:break-word;opacity:.75">${escapeHtml(label)}</th><td style="padding:4px 0;vertical-align:top;overflow-wrap:anywhere">${isolate(value).replaceAll('\n', '<br>')}</td></tr>`,
      )
      .join('')}</table>`,
  };
}

export function leadList(
  words: NewLeadEmail,
  page: PageFacts,
  leads: readonly NewLead[],
  count: number,
): Block[] {
  const rest = count - leads.length;
  return [
    ...leads.map((lead): Block => {
      const { name, company, email } = lead;
      const facts = [
        sourceOfLead(words, lead),
        campaignOfLead(words, lead),
        formatTime(page, lead.first_verified_at),
        remarksOf(words, lead),
      ].filter((fact) => fact !== '');
      const answers = Object.entries(answersByLabel(lead.answers)).map(
        ([label, answer]) => [label, answer.replaceAll('\n', ' ')] as const,
      );
      const answersInHtml = answers.map(
        ([label, answer]) => `${labelAndAnswer(escapeHtml(label), isolate(answer))}<br>`,
      );
      return {
        text: [
          `${name}, ${company}`,
          email,
          ...answers.map(([label, answer]) => labelAndAnswer(label, answer)),
          facts.join(' · '),
        ].join('\n'),
        html: `<p style="margin:0 0 16px;overflow-wrap:anywhere"><strong>${isolate(name)}</strong>, ${isolate(company)}<br>${mailTo(email)}<br>${answersInHtml.join('')}<span style="font-size:14px;opacity:.75">${facts.map(isolate).join(' · ')}</span></p>`,
      };
    }),
    ...(rest > 0 ? [paragraph(fillPlural(words.more, rest, page.language))] : []),
    ...deskButton(words, page, '/leads'),
  ];
}

export const fillPlural = (
  text: Parameters<typeof pluralForm>[0],
  count: number,
  language: string,
  values: Readonly<Record<string, string>> = {},
): string => fill(pluralForm(text, count, language), { ...values, count: count.toLocaleString(language) });

const SPECIAL_SOURCES: Readonly<Record<string, keyof NewLeadEmail['sources']>> = {
  [DIRECT]: 'direct',
  [OTHERS]: 'others',
  [ERASED]: 'erased',
};

export const labelOfSource = (words: NewLeadEmail, source: string): string => {
  const own = Object.hasOwn(SPECIAL_SOURCES, source) ? SPECIAL_SOURCES[source] : undefined;
  return own === undefined ? source : words.sources[own];
};

const sourceOfLead = (words: NewLeadEmail, { attribution }: NewLead): string =>
  labelOfSource(words, shownSource(sourceOf(readAttribution(attribution))));

/** Empty without a campaign. */
function campaignOfLead(words: NewLeadEmail, { attribution }: NewLead): string {
  const campaign = campaignOf(readAttribution(attribution));
  return campaign === undefined ? '' : labelOfSource(words, shownSource(campaign));
}

const remarksOf = ({ remarks }: NewLeadEmail, { flags, news }: NewLead): string =>
  [
    flags.includes('free-mail') && remarks.freeMail,
    flags.includes('disposable') && remarks.disposable,
    news === 1 && remarks.news,
  ]
    .filter(Boolean)
    .join(', ');

/** Example: 14:05 UTC */
const TIME = { hour: 'numeric', minute: '2-digit', timeZoneName: 'short' } as const;
const DAY = { year: 'numeric', month: 'long', day: 'numeric' } as const;

const formatDateTime = ({ language, timeZone }: PageFacts, at: number): string =>
  new Date(at).toLocaleString(language, { ...DAY, ...TIME, timeZone });

export const formatDay = ({ language, timeZone }: PageFacts, at: number): string =>
  new Date(at).toLocaleDateString(language, { ...DAY, timeZone });

/**
 * Example: 16 – 22 November 2026
 * @param to the beginning of the day after the last one
 */
export const formatDays = ({ language, timeZone }: PageFacts, from: number, to: number): string =>
  new Intl.DateTimeFormat(language, { ...DAY, timeZone }).formatRange(from, to - 1);

const formatTime = ({ language, timeZone }: PageFacts, at: number): string =>
  new Date(at).toLocaleTimeString(language, { ...TIME, timeZone });

/** Without isolation, a Latin name would change the order of the words around it in Arabic. */
const isolate = (text: string): string => `<bdi>${escapeHtml(text)}</bdi>`;

function mailTo(email: string): string {
  const at = email.lastIndexOf('@');
  const address = `${encodeURIComponent(email.slice(0, at))}@${email.slice(at + 1)}`;
  return `<bdi>${anchor(`mailto:${address}`, email)}</bdi>`;
}
