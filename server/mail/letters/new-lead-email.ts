// What a mail about new leads says. No picture: bars are coloured cells of a table, which mail programs show without being asked
// whether they may, and the figure stands beside each. Both parts say the same words, in the same order.
import type { NewLead } from '#server/db/across/new-leads.ts';
import { escapeHtml } from '#server/platform/escape-html.ts';
import {
  DIRECT,
  ERASED,
  OTHERS,
  readAttribution,
  shownSource,
  sourceOf,
} from '#server/attribution/source.ts';
import { footnote, letterHtml, paragraph } from '#server/mail/letters/letter.ts';
import type { NewLeadEmail } from '#shared/campaign-schema.ts';
import { fill, pluralForm } from '#shared/words.ts';

/** The same in plain text and in HTML. */
export type Block = { readonly text: string; readonly html: string };

export type Letter = { readonly subject: string; readonly text: string; readonly html: string };

type About = { readonly title: string; readonly language: string; readonly host: string };

/** One lead, told at once. */
export function composeNewLeadEmail(
  words: NewLeadEmail,
  { lead, ...about }: About & { readonly lead: NewLead },
): Letter {
  const { title, host, language } = about;
  const { labels } = words;
  const { email, name, company, first_verified_at: at } = lead;
  const remarks = remarksOf(words, lead);
  const rows: readonly (readonly [label: string, value: string, html: string])[] = [
    [labels.name, name, escapeHtml(name)],
    [labels.company, company, escapeHtml(company)],
    [labels.email, email, mailTo(email)],
    [labels.source, sourceIn(words, lead), escapeHtml(sourceIn(words, lead))],
    [labels.verified, momentIn(language, at), escapeHtml(momentIn(language, at))],
    ...(remarks === '' ? [] : [[labels.remarks, remarks, escapeHtml(remarks)] as const]),
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  const table: Block = {
    text: rows.map(([label, value]) => `${label.padEnd(width)}  ${value}`).join('\n'),
    html: `<table style="border-collapse:collapse;margin:0 0 16px;font:inherit">${rows
      .map(
        ([label, , value]) =>
          `<tr><th scope="row" style="padding:4px 16px 4px 0;text-align:left;vertical-align:top;font-weight:400;opacity:.75">${escapeHtml(label)}</th><td style="padding:4px 0;vertical-align:top;overflow-wrap:anywhere">${value}</td></tr>`,
      )
      .join('')}</table>`,
  };
  return letterOf(words, about, {
    subject: fill(words.each.subject, { title, host, name, company }),
    blocks: [inWords(fill(words.each.text, { title, host })), table],
  });
}

/** Those of an hour that had many. */
export function composeNewLeadsEmail(
  words: NewLeadEmail,
  {
    leads,
    count,
    from,
    to,
    ...about
  }: About & {
    readonly leads: readonly NewLead[];
    readonly count: number;
    readonly from: number;
    readonly to: number;
  },
): Letter {
  const { title, host, language } = about;
  const times = {
    day: dayIn(language, from),
    from: timeIn(language, from),
    to: timeIn(language, to),
  };
  return letterOf(words, about, {
    subject: counted(words.hour.subject, count, language, { title, host }),
    blocks: [
      inWords(fill(words.hour.text, { title, host, ...times })),
      ...listOf(words, language, leads, count),
    ],
  });
}

/** @param blocks what it says, above why it comes */
export function letterOf(
  words: NewLeadEmail,
  { title, host, language }: About,
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

/** What is worth less than the rest. */
export const inSmallWords = (text: string): Block => ({
  text,
  html: `<p style="margin:0 0 16px;font-size:14px;opacity:.75">${escapeHtml(text)}</p>`,
});

/** Leads one below the other, and how many more there are. */
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
      return {
        text: [`${name}, ${company}`, email, line].join('\n'),
        html: `<p style="margin:0 0 16px;overflow-wrap:anywhere"><strong>${escapeHtml(name)}</strong>, ${escapeHtml(company)}<br>${mailTo(email)}<br><span style="font-size:14px;opacity:.75">${escapeHtml(line)}</span></p>`,
      };
    }),
    ...(rest > 0 ? [inWords(counted(words.more, rest, language))] : []),
  ];
}

/** A text that counts, with its number as its language writes it. */
export const counted = (
  text: Parameters<typeof pluralForm>[0],
  count: number,
  language: string,
  values: Readonly<Record<string, string>> = {},
): string => fill(pluralForm(text, count, language), { ...values, count: count.toLocaleString(language) });

/** The name of a source that no link has. */
const OWN_NAMES: Readonly<Record<string, keyof NewLeadEmail['sources']>> = {
  [DIRECT]: 'direct',
  [OTHERS]: 'others',
  [ERASED]: 'erased',
};

/** @param source as the report names it */
export const sourceNamed = (words: NewLeadEmail, source: string): string => {
  const own = Object.hasOwn(OWN_NAMES, source) ? OWN_NAMES[source] : undefined;
  return own === undefined ? source : words.sources[own];
};

const sourceIn = (words: NewLeadEmail, { attribution }: NewLead): string =>
  sourceNamed(words, shownSource(sourceOf(readAttribution(attribution))));

const remarksOf = ({ remarks }: NewLeadEmail, { flags }: NewLead): string =>
  flags
    .split(' ')
    .flatMap((flag) =>
      flag === 'free-mail' ? [remarks.freeMail] : flag === 'disposable' ? [remarks.disposable] : [],
    )
    .join(', ');

/** 14:05 UTC: the operator's zone is not ours to know, and the report's days are those of UTC. */
const TIME = { hour: 'numeric', minute: '2-digit', timeZone: 'UTC', timeZoneName: 'short' } as const;
const DAY = { year: 'numeric', month: 'long', day: 'numeric', timeZone: 'UTC' } as const;

/** 21 November 2026, 14:05 UTC */
const momentIn = (language: string, at: number): string =>
  new Date(at).toLocaleString(language, { ...DAY, ...TIME });

/** 21 November 2026 */
export const dayIn = (language: string, at: number): string => new Date(at).toLocaleDateString(language, DAY);

const timeIn = (language: string, at: number): string => new Date(at).toLocaleTimeString(language, TIME);

function mailTo(email: string): string {
  const at = email.lastIndexOf('@');
  const address = `${encodeURIComponent(email.slice(0, at))}@${email.slice(at + 1)}`;
  return `<a href="mailto:${escapeHtml(address)}" style="color:inherit">${escapeHtml(email)}</a>`;
}
