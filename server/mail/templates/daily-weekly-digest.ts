// The outbox row contains the figures, which are counted only once. Leads are read when the mail is composed.
import { createHash } from 'node:crypto';

import { v7 as uuid } from 'uuid';
import * as z from 'zod/mini';

import type { Db } from '#server/db/engine/connect.ts';
import { countLeads } from '#server/db/queries/report-figures.ts';
import { type NewLead, newLeadsOf } from '#server/db/tables/leads.ts';
import { addMailOnce } from '#server/jobs/mail-jobs.ts';
import {
  type PageFacts,
  pageFactsOf,
  fillPlural,
  formatDay,
  formatDays,
  leadList,
  labelOfSource,
  footnoteFor,
} from '#server/mail/templates/new-lead-mail.ts';
import {
  type Block,
  composeLetter,
  endOf,
  FONT,
  heading,
  type Letter,
  type LetterKind,
  paragraph,
  smallPrint,
  startOf,
} from '#server/mail/templates/letter.ts';
import { escapeHtml } from '#server/platform/text.ts';
import { DAY_MS } from '#server/platform/time.ts';
import type { NewLeadEmail } from '#shared/campaign-schema.ts';
import { middleOf } from '#shared/colours.ts';
import { fill } from '#shared/words.ts';

const MAX_LISTED_LEADS = 50;

const PeriodFigures = z.object({
  from: z.number(),
  to: z.number(),
  /** 1 for a day, or 7 for a week. */
  days: z.number(),
  before: z.number(),
  steps: z.array(z.object({ step: z.string(), count: z.number() })),
  sources: z.array(z.object({ source: z.string(), leads: z.number() })),
});
export type PeriodFigures = z.infer<typeof PeriodFigures>;

export type DigestPeriod = {
  /** The first day, in days since 1970. The ID depends on the day, because a moment would change with TIME_ZONE. */
  readonly day: number;
  readonly days: 1 | 7;
};

/** Deterministic, so each recipient's mail is queued only once. */
export const digestId = ({ day, days }: DigestPeriod, recipient: string): string =>
  uuid({
    msecs: day * DAY_MS,
    seq: 0,
    random: createHash('sha256')
      .update((days === 1 ? 'day' : 'week') + recipient)
      .digest()
      .subarray(0, 16),
  });

export async function queueDigest(
  db: Db,
  digest: { recipients: readonly string[]; period: DigestPeriod; figures: PeriodFigures; now: number },
): Promise<void> {
  const { recipients, period, figures, now } = digest;
  for (const recipient of recipients) {
    const id = digestId(period, recipient);
    await addMailOnce(db, { id, recipient, now, kind: 'digest', payload: figures });
  }
}

export const digestKind: LetterKind = {
  maxAgeMs: () => DAY_MS,
  respectsSuppression: false,

  compose: async (parts, row) => {
    const figures = PeriodFigures.parse(JSON.parse(row.payload));
    const { db } = parts.database;
    const count = await countLeads(db, figures);
    if (count === 0) return null;
    const leads = await newLeadsOf(db, figures, MAX_LISTED_LEADS);
    return composeDigestEmail(parts.campaign.newLeadEmail, { ...pageFactsOf(parts), figures, leads, count });
  },
};

const VIEWS: ReadonlySet<string> = new Set(['seen', 'opened']);

export function composeDigestEmail(
  words: NewLeadEmail,
  facts: PageFacts & {
    readonly figures: PeriodFigures;
    readonly leads: readonly NewLead[];
    readonly count: number;
  },
): Letter {
  const { figures, leads, count, ...page } = facts;
  const { title, host, language } = page;
  const { day } = words;
  // The server refuses to start without words for the weekly mail (server/startup/service.ts).
  const head = figures.days > 1 && words.week !== undefined ? words.week : day;
  const { from, to } = figures;
  const period = { title, host, day: formatDay(page, from), week: formatDays(page, from, to) };
  const before = figures.before.toLocaleString(language);
  const text = fill(head.text, { ...period, before });
  const share = shareOfViews(day.share, figures, { count, language });
  const names: Readonly<Record<string, string>> = { ...day.steps, 'three-quarters': day.steps.threeQuarters };
  const steps = figures.steps.flatMap(({ step, count: value }) => {
    const name = names[step];
    return name === undefined ? [] : [{ name, value, isView: VIEWS.has(step) }];
  });
  const sources = figures.sources.map(({ source, leads: value }) => ({
    name: labelOfSource(words, source),
    value,
  }));
  return composeLetter(page, {
    subject: fillPlural(head.subject, count, language, period),
    preview: share ?? text,
    headline: fillPlural(day.title, count, language),
    blocks: [
      paragraph(text),
      ...(share === null ? [] : [paragraph(share)]),
      heading(day.leads),
      ...leadList(words, page, leads, count),
      // Views have a separate scale, because they would dwarf the later steps.
      ...bars(day.funnel, page, [
        { name: day.visitors, rows: steps.filter(({ isView }) => isView) },
        { name: day.fromForm, rows: steps.filter(({ isView }) => !isView) },
      ]),
      ...bars(day.sources, page, [{ name: null, rows: sources }]),
      ...(steps.length > 0 ? [smallPrint(fill(day.note, { zone: page.timeZone }))] : []),
    ],
    footnote: footnoteFor(words, page, figures.days === 1 ? 'day' : 'week'),
  });
}

/** @returns null if views were not counted for the whole period */
function shareOfViews(
  text: string,
  { steps }: PeriodFigures,
  { count, language }: { count: number; language: string },
): string | null {
  const views = steps.find(({ step }) => step === 'seen')?.count ?? 0;
  if (views < count) return null;
  const share = (count / views).toLocaleString(language, { style: 'percent', maximumFractionDigits: 1 });
  return fill(text, { share, views: views.toLocaleString(language) });
}

type Bar = { readonly name: string; readonly value: number };
type Group = { readonly name: string | null; readonly rows: readonly Bar[] };

/** Each group has its own scale. */
function bars(title: string, { language, accent }: PageFacts, groups: readonly Group[]): Block[] {
  const shown = groups.filter(({ rows }) => rows.length > 0);
  const all = shown.flatMap(({ rows }) => rows);
  if (all.length === 0) return [];
  const formatNumber = (value: number) => value.toLocaleString(language);
  const nameWidth = Math.max(...all.map(({ name }) => Array.from(name).length));
  const valueWidth = Math.max(...all.map(({ value }) => formatNumber(value).length));
  const colour = middleOf(accent);
  const start = startOf(language);
  const blocks = shown.map(({ name: group, rows }): Block => {
    const most = Math.max(1, ...rows.map(({ value }) => value));
    const inText = rows.map(
      ({ name, value }) =>
        `${name}${' '.repeat(nameWidth - Array.from(name).length)}  ${formatNumber(value).padStart(valueWidth)}`,
    );
    const inHtml = rows.map(
      ({ name, value }) =>
        `<tr><th scope="row" width="42%" align="${start}" style="padding:4px 0;font-weight:400;overflow-wrap:anywhere">${escapeHtml(name)}</th><td width="16%" align="${endOf(language)}" style="padding:4px 10px;font-variant-numeric:tabular-nums">${escapeHtml(formatNumber(value))}</td><td width="42%" style="padding:4px 0">${barCell(value / most, colour)}</td></tr>`,
    );
    const caption = group === null ? [] : [group];
    return {
      text: [...caption, ...inText].join('\n'),
      html: `<table width="100%" style="border-collapse:collapse;margin:0 0 12px;${FONT}">${caption
        .map(
          (text) =>
            `<tr><th colspan="3" scope="colgroup" align="${start}" style="padding:4px 0;font-size:14px;font-weight:400;opacity:.75">${escapeHtml(text)}</th></tr>`,
        )
        .concat(inHtml)
        .join('\n')}</table>`,
    };
  });
  return [heading(title), ...blocks];
}

/**
 * Uses a table cell, because Outlook respects only table widths, and mail programs show cells without asking, unlike
 * pictures.
 */
const barCell = (share: number, colour: string): string =>
  share === 0
    ? ''
    : `<table role="presentation" aria-hidden="true" width="${Math.max(1, Math.round(100 * share))}%" cellpadding="0" cellspacing="0"><tr><td bgcolor="${colour}" style="height:12px;font-size:1px;line-height:12px;border-radius:2px">&nbsp;</td></tr></table>`;
