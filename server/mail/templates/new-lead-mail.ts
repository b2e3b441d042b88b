// The outbox row contains only the lead's ID. Leads are read when the mail is composed, so erased leads aren't reported.
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
  type Look,
  lookOf,
  paragraph,
  startOf,
} from '#server/mail/templates/letter.ts';
import { escapeHtml } from '#server/platform/text.ts';
import { DAY_MS } from '#server/platform/time.ts';
import type { NewLeadEmail } from '#shared/campaign-schema.ts';
import { asciiAddress } from '#shared/lead.ts';
import { answersByLabel, labelAndAnswer } from '#shared/own-fields.ts';
import { fill, pluralForm } from '#shared/words.ts';

const OfLead = z.object({ leadId: z.string() });

/** Width of the label column in characters. The answer to a longer question is placed below the question. */
const LABEL_MAX_WIDTH = 24;

export async function queueNewLeadMail(
  tx: Db,
  { leadId, recipients, now }: { leadId: string; recipients: readonly string[]; now: number },
): Promise<void> {
  await addMails(tx, recipients, { now, kind: 'new-lead', payload: { leadId } });
}

export const newLeadKind: LetterKind = {
  mayWaitMs: () => DAY_MS,
  respectsSuppression: false,

  compose: async (parts, row) => {
    const { leadId } = OfLead.parse(JSON.parse(row.payload));
    const lead = await findNewLead(parts.database.db, leadId);
    if (lead === undefined) return null;
    return composeNewLeadEmail(parts.campaign.newLeadEmail, { ...aboutPage(parts), lead, leadId });
  },
};

export type AboutPage = Look & {
  /** The operator's. */
  readonly timeZone: string;
  readonly host: string;
  /** Null if the browser desk is off. */
  readonly deskUrl: string | null;
};

export const aboutPage = ({ config, campaign }: LetterParts): AboutPage => ({
  ...lookOf(campaign),
  timeZone: config.timeZone,
  deskUrl: config.desk?.url ?? null,
  host: new URL(config.publicUrl).hostname,
});

export function composeNewLeadEmail(
  words: NewLeadEmail,
  { lead, leadId, ...about }: AboutPage & { readonly lead: NewLead; readonly leadId: string },
): Letter {
  const { title, host, language } = about;
  const { labels } = words;
  const { email, name, company, first_verified_at: at } = lead;
  const source = sourceIn(words, lead);
  const campaign = campaignIn(words, lead);
  const remarks = remarksOf(words, lead);
  // Mail programs answer the lead instead of the site. Otherwise, the address would have to be copied.
  const replyTo = asciiAddress(email);
  const letter = composeLetter(about, {
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
        [labels.verified, momentIn(about, at)],
        ...(remarks === '' ? [] : [[labels.remarks, remarks] as const]),
      ]),
      ...deskButton(words, about, `/person?id=${leadId}`),
    ],
    footnote: why(words, about, 'each'),
  });
  return replyTo === null ? letter : { ...letter, replyTo };
}

const deskButton = (words: NewLeadEmail, { deskUrl, accent }: AboutPage, path: string): Block[] =>
  deskUrl === null ? [] : [button(words.each.desk, deskUrl + path, accent)];

export function why(words: NewLeadEmail, { title, host }: AboutPage, mail: keyof NewLeadEmail['why']): Block {
  const text = fill(words.why[mail], { title, host });
  return { text, html: escapeHtml(text) };
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
          `<tr><th scope="row" align="${start}" style="padding:4px 0;padding-${endOf(language)}:16px;vertical-align:top;font-weight:400;overflow-wrap:break-word;opacity:.75">${escapeHtml(label)}</th><td style="padding:4px 0;vertical-align:top;overflow-wrap:anywhere">${isolated(value).replaceAll('\n', '<br>')}</td></tr>`,
      )
      .join('')}</table>`,
  };
}

export function listOf(
  words: NewLeadEmail,
  about: AboutPage,
  leads: readonly NewLead[],
  count: number,
): Block[] {
  const rest = count - leads.length;
  return [
    ...leads.map((lead): Block => {
      const { name, company, email } = lead;
      const facts = [
        sourceIn(words, lead),
        campaignIn(words, lead),
        timeIn(about, lead.first_verified_at),
        remarksOf(words, lead),
      ].filter((fact) => fact !== '');
      const line = facts.join(' · ');
      const answers = Object.entries(answersByLabel(lead.answers)).map(([label, answer]) =>
        labelAndAnswer(label, answer.replaceAll('\n', ' ')),
      );
      return {
        text: [`${name}, ${company}`, email, ...answers, line].join('\n'),
        html: `<p style="margin:0 0 16px;overflow-wrap:anywhere"><strong>${isolated(name)}</strong>, ${isolated(company)}<br>${mailTo(email)}<br>${answers.map((answer) => `${escapeHtml(answer)}<br>`).join('')}<span style="font-size:14px;opacity:.75">${escapeHtml(line)}</span></p>`,
      };
    }),
    ...(rest > 0 ? [paragraph(counted(words.more, rest, about.language))] : []),
    ...deskButton(words, about, '/leads'),
  ];
}

export const counted = (
  text: Parameters<typeof pluralForm>[0],
  count: number,
  language: string,
  values: Readonly<Record<string, string>> = {},
): string => fill(pluralForm(text, count, language), { ...values, count: count.toLocaleString(language) });

const OWN_NAMES: Readonly<Record<string, keyof NewLeadEmail['sources']>> = {
  [DIRECT]: 'direct',
  [OTHERS]: 'others',
  [ERASED]: 'erased',
};

export const sourceNamed = (words: NewLeadEmail, source: string): string => {
  const own = Object.hasOwn(OWN_NAMES, source) ? OWN_NAMES[source] : undefined;
  return own === undefined ? source : words.sources[own];
};

const sourceIn = (words: NewLeadEmail, { attribution }: NewLead): string =>
  sourceNamed(words, shownSource(sourceOf(readAttribution(attribution))));

/** Empty without a campaign. */
function campaignIn(words: NewLeadEmail, { attribution }: NewLead): string {
  const campaign = campaignOf(readAttribution(attribution));
  return campaign === undefined ? '' : sourceNamed(words, shownSource(campaign));
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

const momentIn = ({ language, timeZone }: AboutPage, at: number): string =>
  new Date(at).toLocaleString(language, { ...DAY, ...TIME, timeZone });

export const dayIn = ({ language, timeZone }: AboutPage, at: number): string =>
  new Date(at).toLocaleDateString(language, { ...DAY, timeZone });

/**
 * Example: 16 – 22 November 2026
 * @param to the beginning of the day after the last one
 */
export const daysIn = ({ language, timeZone }: AboutPage, from: number, to: number): string =>
  new Intl.DateTimeFormat(language, { ...DAY, timeZone }).formatRange(from, to - 1);

const timeIn = ({ language, timeZone }: AboutPage, at: number): string =>
  new Date(at).toLocaleTimeString(language, { ...TIME, timeZone });

/** Without it, a Latin name would change the order of the words around it in Arabic. */
const isolated = (text: string): string => `<bdi>${escapeHtml(text)}</bdi>`;

function mailTo(email: string): string {
  const at = email.lastIndexOf('@');
  const address = `${encodeURIComponent(email.slice(0, at))}@${email.slice(at + 1)}`;
  return `<bdi>${anchor(`mailto:${address}`, email)}</bdi>`;
}
