import type { NewLead } from '#server/db/tables/leads.ts';
import { escapeHtml } from '#server/platform/text.ts';
import {
  DIRECT,
  ERASED,
  OTHERS,
  readAttribution,
  shownSource,
  sourceOf,
} from '#server/attribution/source.ts';
import { footnote, letterHtml, paragraph } from '#server/mail/templates/letter-html.ts';
import type { Letter } from '#server/mail/templates/letter-kind.ts';
import type { NewLeadEmail } from '#shared/campaign-schema.ts';
import { answersByLabel, labelAndAnswer } from '#shared/own-answers.ts';
import { fill, pluralForm } from '#shared/words.ts';

export type Block = { readonly text: string; readonly html: string };

export type AboutPage = { readonly title: string; readonly language: string; readonly host: string };

export function letterOf(
  words: NewLeadEmail,
  { title, host, language }: AboutPage,
  { subject, blocks }: { subject: string; blocks: readonly Block[] },
): Letter {
  const why = fill(words.why, { title, host });
  return {
    subject,
    text: `${[...blocks.map(({ text }) => text), `-- \n${why}`].join('\n\n')}\n`,
    html: letterHtml({
      title: subject,
      language,
      body: [...blocks.map(({ html }) => html), footnote(escapeHtml(why))],
    }),
  };
}

export const inWords = (text: string): Block => ({ text, html: paragraph(text) });

export const inSmallWords = (text: string): Block => ({
  text,
  html: `<p style="margin:0 0 16px;font-size:14px;opacity:.75">${escapeHtml(text)}</p>`,
});

/** @param count total number, including leads not listed */
export function listOf(
  words: NewLeadEmail,
  language: string,
  leads: readonly NewLead[],
  count: number,
): Block[] {
  const rest = count - leads.length;
  return [
    ...leads.map((lead): Block => {
      const { name, company, email } = lead;
      const facts = [
        sourceIn(words, lead),
        timeIn(language, lead.first_verified_at),
        remarksOf(words, lead),
      ].filter((fact) => fact !== '');
      const line = facts.join(' · ');
      const answers = Object.entries(answersByLabel(lead.answers)).map(([label, answer]) =>
        labelAndAnswer(label, answer.replaceAll('\n', ' ')),
      );
      return {
        text: [`${name}, ${company}`, email, ...answers, line].join('\n'),
        html: `<p style="margin:0 0 16px;overflow-wrap:anywhere"><strong>${escapeHtml(name)}</strong>, ${escapeHtml(company)}<br>${mailTo(email)}<br>${answers.map((answer) => `${escapeHtml(answer)}<br>`).join('')}<span style="font-size:14px;opacity:.75">${escapeHtml(line)}</span></p>`,
      };
    }),
    ...(rest > 0 ? [inWords(counted(words.more, rest, language))] : []),
  ];
}

/** With its number, in the given language. */
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

export const sourceIn = (words: NewLeadEmail, { attribution }: NewLead): string =>
  sourceNamed(words, shownSource(sourceOf(readAttribution(attribution))));

export const remarksOf = ({ remarks }: NewLeadEmail, { flags }: NewLead): string =>
  flags
    .split(' ')
    .flatMap((flag) =>
      flag === 'free-mail' ? [remarks.freeMail] : flag === 'disposable' ? [remarks.disposable] : [],
    )
    .join(', ');

/** 14:05 UTC, because the operator's time zone is unknown. */
const TIME = { hour: 'numeric', minute: '2-digit', timeZone: 'UTC', timeZoneName: 'short' } as const;
const DAY = { year: 'numeric', month: 'long', day: 'numeric', timeZone: 'UTC' } as const;

/** 21 November 2026, 14:05 UTC */
export const momentIn = (language: string, at: number): string =>
  new Date(at).toLocaleString(language, { ...DAY, ...TIME });

/** 21 November 2026 */
export const dayIn = (language: string, at: number): string => new Date(at).toLocaleDateString(language, DAY);

/** 16 – 22 November 2026. @param to beginning of the day after the last */
export const daysIn = (language: string, from: number, to: number): string =>
  new Intl.DateTimeFormat(language, DAY).formatRange(from, to - 1);

export const timeIn = (language: string, at: number): string =>
  new Date(at).toLocaleTimeString(language, TIME);

export function mailTo(email: string): string {
  const at = email.lastIndexOf('@');
  const address = `${encodeURIComponent(email.slice(0, at))}@${email.slice(at + 1)}`;
  return `<a href="mailto:${escapeHtml(address)}" style="color:inherit">${escapeHtml(email)}</a>`;
}
