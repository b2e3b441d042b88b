// The mail that reports a day to the operator: its figures, drawn as in the report, and its new leads. Its row holds the figures,
// which are counted once; the leads are read when the mail is composed.
import * as z from 'zod/mini';

import { DAY_MS } from '#server/platform/time.ts';
import type { Db } from '#server/db/engine/connect.ts';
import type { NewLead } from '#server/db/across/new-leads.ts';
import { queueOnce } from '#server/db/tables/outbox.ts';
import {
  counted,
  dayIn,
  inSmallWords,
  inWords,
  letterOf,
  listOf,
  sourceNamed,
  type AboutPage,
  type Block,
} from '#server/mail/letters/lead-words.ts';
import { heading } from '#server/mail/letters/letter-html.ts';
import type { Letter, LetterKind } from '#server/mail/letters/letter-kind.ts';
import { idOfPeriod, namedLeads, WORTH_SENDING_MS } from '#server/mail/letters/new-lead-mail.ts';
import { escapeHtml } from '#server/platform/escape-html.ts';
import { textBar } from '#server/platform/text-bar.ts';
import type { NewLeadEmail } from '#shared/campaign-schema.ts';
import { fill } from '#shared/words.ts';

const DayFigures = z.object({
  /** When the day began; milliseconds since 1970. */
  from: z.number(),
  /** New leads of the day before. */
  before: z.number(),
  steps: z.array(z.object({ step: z.string(), count: z.number() })),
  sources: z.array(z.object({ source: z.string(), leads: z.number() })),
});
/** What is counted of a day: numbers and sources, nothing about anybody. */
export type DayFigures = z.infer<typeof DayFigures>;

/** The id of the mail about a day. @param from when it began */
export const digestId = (from: number): string => idOfPeriod('day', from);

/** Queues the mail about a day: once, in all processes. */
export async function queueDigest(
  db: Db,
  { recipient, figures, now }: { recipient: string; figures: DayFigures; now: number },
): Promise<void> {
  await queueOnce(db, { id: digestId(figures.from), recipient, now, kind: 'digest', payload: figures });
}

export const digestKind: LetterKind = {
  mayWaitMs: () => WORTH_SENDING_MS,
  respectsSuppression: false,

  compose: async ({ db, newLeadEmail: words, title, language, publicUrl }, row) => {
    const figures = DayFigures.parse(JSON.parse(row.payload));
    const named = await namedLeads(db, { from: figures.from, to: figures.from + DAY_MS });
    if (named.count === 0) return null;
    const { hostname: host } = new URL(publicUrl);
    return composeDigestEmail(words, { title, language, host, figures, ...named });
  },
};

/** Characters; narrow enough for a telephone. */
const BAR_WIDTH = 16;
/** Visible on a light and on a dark background. */
const BAR_COLOUR = '#3d8f72';

const STEP_NAMES: Readonly<Record<string, keyof NewLeadEmail['day']['steps']>> = {
  seen: 'seen',
  opened: 'opened',
  asked: 'asked',
  mailed: 'mailed',
  entered: 'entered',
  quarter: 'quarter',
  half: 'half',
  'three-quarters': 'threeQuarters',
  whole: 'whole',
};

/** Composes subject, plain text and HTML from the operator's words. */
export function composeDigestEmail(
  words: NewLeadEmail,
  {
    figures,
    leads,
    count,
    ...about
  }: AboutPage & {
    readonly figures: DayFigures;
    readonly leads: readonly NewLead[];
    readonly count: number;
  },
): Letter {
  const { title, host, language } = about;
  const inFigures = (value: number) => value.toLocaleString(language);
  const day = dayIn(language, figures.from);
  const steps = figures.steps.flatMap(({ step, count: times }) => {
    const name = STEP_NAMES[step];
    return name === undefined ? [] : [{ name: words.day.steps[name], value: times }];
  });
  const sources = figures.sources.map(({ source, leads: value }) => ({
    name: sourceNamed(words, source),
    value,
  }));
  return letterOf(words, about, {
    subject: counted(words.day.subject, count, language, { title, host, day }),
    blocks: [
      large(counted(words.day.title, count, language)),
      inWords(fill(words.day.text, { day, before: inFigures(figures.before), title, host })),
      ...bars(words.day.funnel, steps, inFigures),
      ...bars(words.day.sources, sources, inFigures),
      ...(steps.length > 0 ? [inSmallWords(words.day.note)] : []),
      titled(words.day.leads),
      ...listOf(words, language, leads, count),
    ],
  });
}

const large = (text: string): Block => ({
  text,
  html: `<h1 style="margin:0 0 4px;font:600 28px/1.25 Georgia,serif">${escapeHtml(text)}</h1>`,
});

const titled = (text: string): Block => ({ text, html: heading(text) });

type Bar = { readonly name: string; readonly value: number };

/** A title, and a table in which each figure has a bar; no block when there are no rows. */
function bars(title: string, rows: readonly Bar[], inFigures: (value: number) => string): Block[] {
  if (rows.length === 0) return [];
  const longest = Math.max(1, ...rows.map(({ value }) => value));
  const nameWidth = Math.max(...rows.map(({ name }) => Array.from(name).length));
  const valueWidth = Math.max(...rows.map(({ value }) => inFigures(value).length));
  return [
    {
      text: [
        title,
        ...rows.map(({ name, value }) =>
          [
            name + ' '.repeat(nameWidth - Array.from(name).length),
            inFigures(value).padStart(valueWidth),
            textBar(value / longest, BAR_WIDTH),
          ]
            .join('  ')
            .trimEnd(),
        ),
      ].join('\n'),
      html: `${heading(title)}
<table width="100%" style="border-collapse:collapse;margin:0 0 8px;font:inherit">${rows
        .map(
          ({ name, value }) =>
            `<tr><th scope="row" width="42%" style="padding:4px 0;text-align:left;font-weight:400;overflow-wrap:anywhere">${escapeHtml(name)}</th><td width="16%" align="right" style="padding:4px 12px 4px 8px;font-variant-numeric:tabular-nums">${escapeHtml(inFigures(value))}</td><td width="42%" style="padding:4px 0">${barCell(value / longest)}</td></tr>`,
        )
        .join('\n')}</table>`,
    },
  ];
}

/** A bar made of a coloured cell, because Outlook respects the width of a table only. Mail programs show it without asking. */
const barCell = (share: number): string =>
  share === 0
    ? ''
    : `<table role="presentation" aria-hidden="true" width="${Math.max(1, Math.round(100 * share))}%" cellpadding="0" cellspacing="0"><tr><td bgcolor="${BAR_COLOUR}" style="height:12px;font-size:1px;line-height:12px;border-radius:2px">&nbsp;</td></tr></table>`;
