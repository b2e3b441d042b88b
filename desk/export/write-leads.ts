// Writes leads as text, a page at a time.
import { createCollector } from '#server/platform/collect-garbage.ts';
import type { Db } from '#server/db/engine/connect.ts';
import {
  hasOwnAnswers,
  hasVariants,
  leadPages,
  type LeadFilter,
  type LeadRecord,
  type LeadState,
} from '#server/db/across/lead-pages.ts';
import { csv } from '#desk/export/csv.ts';
import {
  exportedLead,
  FORMATS,
  ownColumns,
  personAsJson,
  type Conversion,
  type CsvFormat,
  type FormatName,
  type UnsubscribeUrl,
} from '#desk/export/export-columns.ts';
import type { OwnField } from '#shared/campaign-schema.ts';

/** A page of leads as text. */
export type Written = { readonly text: string; readonly leadIds: readonly string[] };

export type LeadSelection = LeadFilter & {
  readonly state: LeadState;
  readonly source?: string | undefined;
};

/**
 * Reads the people of a selection.
 * @param make makes of a row what goes out
 * @returns pages of leads with their ids, as they go out; a page can be empty
 */
export async function* selectLeads<Lead extends { readonly source: string }>(
  db: Db,
  { state, source, ...filter }: LeadSelection,
  make: (record: LeadRecord) => Lead,
): AsyncGenerator<readonly { readonly id: string; readonly lead: Lead }[], void, void> {
  for await (const page of leadPages(db, state, filter)) {
    const leads = page.map((record) => ({ id: record.id, lead: make(record) }));
    yield source === undefined ? leads : leads.filter(({ lead }) => lead.source === source);
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
  // A million signatures take seconds: formats without the link do without them.
  const link = format.kind === 'csv' && format.hasLink ? unsubscribeUrl : () => '';
  yield* format.kind === 'csv'
    ? writePages(db, selection, {
        make: (record) => exportedLead(record, link),
        textOf: (leads) =>
          csv(leads.map((lead) => format.columns.map(([, value]) => value(lead, conversion)))),
      })
    : writePages(db, selection, {
        make: (record) => personAsJson(record, unsubscribeUrl),
        textOf: (leads) => leads.map((lead) => `${JSON.stringify(lead)}\n`).join(''),
      });
}

async function* writePages<Lead extends { readonly source: string }>(
  db: Db,
  selection: LeadSelection,
  { make, textOf }: { make: (record: LeadRecord) => Lead; textOf: (leads: readonly Lead[]) => string },
): AsyncGenerator<Written, void, void> {
  const collect = createCollector();
  for await (const page of selectLeads(db, selection, make)) {
    collect(page.length);
    yield { text: textOf(page.map(({ lead }) => lead)), leadIds: page.map(({ id }) => id) };
  }
}

function headOf({ preamble, columns }: CsvFormat, byteOrderMark: boolean): string {
  const lines = [...(preamble === undefined ? [] : [[preamble]]), columns.map(([heading]) => heading)];
  return `${byteOrderMark ? '\uFEFF' : ''}${csv(lines)}`;
}
