// Writes leads as text, a page at a time.
import { createCollector } from '#server/platform/collect-garbage.ts';
import type { Db } from '#server/db/engine/connect.ts';
import {
  hasOwnAnswers,
  hasVariants,
  leadPages,
  type LeadFilter,
  type LeadState,
} from '#server/db/across/lead-pages.ts';
import { csv } from '#desk/export/csv.ts';
import {
  exportedLead,
  FORMATS,
  ownColumns,
  type Conversion,
  type CsvFormat,
  type ExportedLead,
  type FormatName,
  type UnsubscribeUrl,
} from '#desk/export/export-columns.ts';
import type { OwnField } from '#shared/campaign-schema.ts';

/** A page of leads as text. */
export type Written = { readonly text: string; readonly leadIds: readonly string[] };

export type LeadSelection = LeadFilter & {
  readonly state: LeadState;
  readonly source?: string | undefined;
  /** Maximum number of people to read. */
  readonly limit?: number | undefined;
};

/**
 * Reads the people of a selection.
 * @returns pages of leads with their ids, as they go out; a page can be empty
 */
export async function* selectLeads(
  db: Db,
  { state, source, limit = Infinity, ...filter }: LeadSelection,
  unsubscribeUrl: UnsubscribeUrl,
): AsyncGenerator<readonly { readonly id: string; readonly lead: ExportedLead }[], void, void> {
  let left = limit;
  for await (const page of leadPages(db, state, filter)) {
    const leads = page.map((record) => ({ id: record.id, lead: exportedLead(record, unsubscribeUrl) }));
    const chosen = (source === undefined ? leads : leads.filter(({ lead }) => lead.source === source)).slice(
      0,
      left,
    );
    yield chosen;
    left -= chosen.length;
    if (left <= 0) return;
  }
}

/**
 * Writes leads in a format. CSV is that of RFC 4180, in UTF-8; what a spreadsheet would take for a formula gets an apostrophe.
 * @param options byteOrderMark: for a spreadsheet that takes UTF-8 for something else; fields: the campaign's own questions
 */
export async function* writeLeads(
  db: Db,
  selection: LeadSelection,
  {
    format: name,
    conversion,
    unsubscribeUrl,
    byteOrderMark = false,
    fields,
  }: {
    format: FormatName;
    conversion: Conversion;
    unsubscribeUrl: UnsubscribeUrl;
    byteOrderMark?: boolean;
    fields: readonly OwnField[];
  },
): AsyncGenerator<Written, void, void> {
  const known: CsvFormat | (typeof FORMATS)['jsonl'] = FORMATS[name];
  const hasAnswers = fields.length > 0 || (name === 'csv' && (await hasOwnAnswers(db, selection.state)));
  const isCompared = name === 'csv' && (await hasVariants(db, selection.state));
  const format =
    known.kind === 'csv'
      ? {
          ...known,
          columns: [...known.columns, ...ownColumns(name, { fields, hasAnswers, hasVariants: isCompared })],
        }
      : known;
  if (format.kind === 'csv') yield { text: headOf(format, byteOrderMark), leadIds: [] };
  const collect = createCollector();
  // A million signatures take seconds: formats without the link do without them.
  const link = name === 'csv' || name === 'jsonl' ? unsubscribeUrl : () => '';
  for await (const page of selectLeads(db, selection, link)) {
    collect(page.length);
    const leads = page.map(({ lead }) => lead);
    yield {
      text:
        format.kind === 'csv'
          ? csv(leads.map((lead) => format.columns.map(([, value]) => value(lead, conversion))))
          : leads.map((lead) => `${JSON.stringify(lead)}\n`).join(''),
      leadIds: page.map(({ id }) => id),
    };
  }
}

function headOf({ preamble, columns }: CsvFormat, byteOrderMark: boolean): string {
  const lines = [...(preamble === undefined ? [] : [[preamble]]), columns.map(([heading]) => heading)];
  return `${byteOrderMark ? '\uFEFF' : ''}${csv(lines)}`;
}
