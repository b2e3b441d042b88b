// The outbox row contains the stats, which are counted only once. Leads are read when the mail is composed.
import * as z from 'zod/mini';

import type { Db } from '#server/db/engine/connect.ts';
import type { NewLead } from '#server/db/tables/leads.ts';
import { addMailOnce } from '#server/jobs/mail-jobs.ts';
import {
  type AboutPage,
  type Block,
  counted,
  dayIn,
  daysIn,
  idOfPeriod,
  inSmallWords,
  inWords,
  letterOf,
  listOf,
  namedLeads,
  sourceNamed,
  WORTH_SENDING_MS,
} from '#server/mail/templates/new-lead-mail.ts';
import { heading, type Letter, type LetterKind } from '#server/mail/templates/letter.ts';
import { escapeHtml } from '#server/platform/text.ts';
import type { NewLeadEmail } from '#shared/campaign-schema.ts';
import { dayOf, startOfDay } from '#shared/days.ts';
import { fill } from '#shared/words.ts';

const PeriodFigures = z.object({
  from: z.number(),
  /** 1 for a day, or 7 for a week. */
  days: z.number(),
  before: z.number(),
  steps: z.array(z.object({ step: z.string(), count: z.number() })),
  sources: z.array(z.object({ source: z.string(), leads: z.number() })),
});
export type PeriodFigures = z.infer<typeof PeriodFigures>;

export const digestId = ({ from, days }: Pick<PeriodFigures, 'from' | 'days'>): string =>
  idOfPeriod(days === 1 ? 'day' : 'week', from);

export async function queueDigest(
  db: Db,
  { recipient, figures, now }: { recipient: string; figures: PeriodFigures; now: number },
): Promise<void> {
  await addMailOnce(db, { id: digestId(figures), recipient, now, kind: 'digest', payload: figures });
}

export const digestKind: LetterKind = {
  mayWaitMs: () => WORTH_SENDING_MS,
  respectsSuppression: false,

  compose: async ({ db, newLeadEmail: words, title, language, timeZone, publicUrl }, row) => {
    const figures = PeriodFigures.parse(JSON.parse(row.payload));
    const { from } = figures;
    const named = await namedLeads(db, { from, to: endOf(figures, timeZone) });
    if (named.count === 0) return null;
    const { hostname: host } = new URL(publicUrl);
    return composeDigestEmail(words, { title, language, timeZone, host, figures, ...named });
  },
};

const endOf = ({ from, days }: Pick<PeriodFigures, 'from' | 'days'>, timeZone: string): number =>
  startOfDay(dayOf(from, timeZone) + days, timeZone);

/** Visible on light and dark backgrounds. */
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

const VIEWS: ReadonlySet<string> = new Set(['seen', 'opened']);

export function composeDigestEmail(
  words: NewLeadEmail,
  facts: AboutPage & {
    readonly figures: PeriodFigures;
    readonly leads: readonly NewLead[];
    readonly count: number;
  },
): Letter {
  const { figures, leads, count, ...about } = facts;
  const { language } = about;
  const inFigures = (value: number) => value.toLocaleString(language);
  const before = inFigures(figures.before);
  const { subject, text } = headOf(words, about, { ...figures, count, before });
  const steps = figures.steps.flatMap(({ step, count: times }) => {
    const name = STEP_NAMES[step];
    return name === undefined
      ? []
      : [{ name: words.day.steps[name], value: times, scale: VIEWS.has(step) ? 'views' : 'people' }];
  });
  const sources = figures.sources.map(({ source, leads: value }) => ({
    name: sourceNamed(words, source),
    value,
    scale: 'people',
  }));
  return letterOf(words, about, {
    subject,
    blocks: [
      large(counted(words.day.title, count, language)),
      inWords(text),
      ...bars(words.day.funnel, steps, inFigures),
      ...bars(words.day.sources, sources, inFigures),
      ...(steps.length > 0 ? [inSmallWords(fill(words.day.note, { zone: about.timeZone }))] : []),
      titled(words.day.leads),
      ...listOf(words, about, leads, count),
    ],
  });
}

function headOf(
  words: NewLeadEmail,
  about: AboutPage,
  { from, days, count, before }: Pick<PeriodFigures, 'from' | 'days'> & { count: number; before: string },
): { subject: string; text: string } {
  const { title, host, language } = about;
  // The server refuses to start without words for the weekly mail (server/startup/service.ts).
  if (days > 1 && words.week !== undefined) {
    const given = { title, host, week: daysIn(about, from, endOf({ from, days }, about.timeZone)) };
    return {
      subject: counted(words.week.subject, count, language, given),
      text: fill(words.week.text, { ...given, before }),
    };
  }
  const given = { title, host, day: dayIn(about, from) };
  return {
    subject: counted(words.day.subject, count, language, given),
    text: fill(words.day.text, { ...given, before }),
  };
}

const large = (text: string): Block => ({
  text,
  html: `<h1 style="margin:0 0 4px;font:600 28px/1.25 Georgia,serif">${escapeHtml(text)}</h1>`,
});

const titled = (text: string): Block => ({ text, html: heading(text) });

type Bar = { readonly name: string; readonly value: number; readonly scale: string };

function bars(title: string, rows: readonly Bar[], inFigures: (value: number) => string): Block[] {
  if (rows.length === 0) return [];
  const shareOf = ({ value, scale }: Bar) =>
    value / Math.max(1, ...rows.filter((row) => row.scale === scale).map((row) => row.value));
  const nameWidth = Math.max(...rows.map(({ name }) => Array.from(name).length));
  const valueWidth = Math.max(...rows.map(({ value }) => inFigures(value).length));
  return [
    {
      text: [
        title,
        ...rows.map((row) =>
          [
            row.name + ' '.repeat(nameWidth - Array.from(row.name).length),
            inFigures(row.value).padStart(valueWidth),
            textBar(shareOf(row)),
          ]
            .join('  ')
            .trimEnd(),
        ),
      ].join('\n'),
      html: `${heading(title)}
<table width="100%" style="border-collapse:collapse;margin:0 0 8px;font:inherit">${rows
        .map(
          (row) =>
            `<tr><th scope="row" width="42%" style="padding:4px 0;text-align:left;font-weight:400;overflow-wrap:anywhere">${escapeHtml(row.name)}</th><td width="16%" align="right" style="padding:4px 12px 4px 8px;font-variant-numeric:tabular-nums">${escapeHtml(inFigures(row.value))}</td><td width="42%" style="padding:4px 0">${barCell(shareOf(row))}</td></tr>`,
        )
        .join('\n')}</table>`,
    },
  ];
}

const BAR_WIDTH = 16;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

function textBar(share: number): string {
  const eighths = share > 0 ? Math.max(1, Math.round(share * BAR_WIDTH * 8)) : 0;
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}

/**
 * Uses a table cell, because Outlook respects only table widths, and mail programs show cells without asking, unlike
 * pictures.
 */
const barCell = (share: number): string =>
  share === 0
    ? ''
    : `<table role="presentation" aria-hidden="true" width="${Math.max(1, Math.round(100 * share))}%" cellpadding="0" cellspacing="0"><tr><td bgcolor="${BAR_COLOUR}" style="height:12px;font-size:1px;line-height:12px;border-radius:2px">&nbsp;</td></tr></table>`;
