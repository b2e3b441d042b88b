import type { Db } from '#server/db/engine/connect.ts';
import { hasOwnAnswers, hasVariants, leadPages } from '#server/db/contacts/people.ts';
import type { LeadFilter, LeadRecord, LeadState } from '#server/db/contacts/filter.ts';
import { campaignOf, hintsOf, readAttribution, sourceOf } from '#server/attribution/attribution.ts';
import { csvLine } from '#desk/export/csv.ts';
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
import { IMPORTED } from '#server/webhooks/lead-as-json.ts';
import type { OwnField } from '#shared/campaign-schema.ts';

export type Written = { readonly text: string; readonly leadIds: readonly string[] };

export type LeadSelection = LeadFilter & {
  readonly state: LeadState;
  readonly source?: string | undefined;
  readonly campaign?: string | undefined;
  readonly limit?: number | undefined;
};

export async function* selectLeads<Lead>(
  db: Db,
  { state, source, campaign, limit = Infinity, ...filter }: LeadSelection,
  make: (record: LeadRecord) => Lead,
): AsyncGenerator<Iterable<{ readonly id: string; readonly lead: Lead }>, void, void> {
  let remaining = limit;
  const { attributionHolds, isFromThere } = originFilter({ state, source, campaign });
  for await (const page of leadPages(db, state, { ...filter, attributionHolds })) {
    const chosen = page.values().filter(isFromThere).take(remaining);
    yield chosen.map((record) => {
      remaining -= 1;
      return { id: record.id, lead: make(record) };
    });
    if (remaining <= 0) return;
  }
}

/** `attributionHolds` is a cheap first filter for SQL, which `isFromThere` completes. */
export function originFilter({ state, source, campaign }: LeadSelection): {
  readonly attributionHolds: LeadFilter['attributionHolds'];
  readonly isFromThere: (person: Pick<LeadRecord, 'attribution'>) => boolean;
} {
  const isNamed = source !== undefined && state !== 'imported';
  return {
    attributionHolds:
      campaign === undefined
        ? isNamed
          ? hintsOf(source)
          : undefined
        : [JSON.stringify(campaign).slice(1, -1)],
    isFromThere: ({ attribution }) => {
      if (source === undefined && campaign === undefined) return true;
      const touches = attribution === null ? null : readAttribution(attribution);
      return (
        (source === undefined || (touches === null ? IMPORTED : sourceOf(touches)) === source) &&
        (campaign === undefined || (touches !== null && campaignOf(touches) === campaign))
      );
    },
  };
}

/** @param options byteOrderMark: for spreadsheets that do not detect UTF-8; fields: the custom questions; hasNews: as in ownColumns */
export async function* writeLeads(
  db: Db,
  selection: LeadSelection,
  {
    format: name,
    conversion,
    unsubscribeUrl,
    byteOrderMark = false,
    fields,
    hasNews,
  }: {
    format: FormatName;
    conversion: Conversion;
    unsubscribeUrl: UnsubscribeUrl;
    byteOrderMark?: boolean;
    fields: readonly OwnField[];
    hasNews: boolean;
  },
): AsyncGenerator<Written, void, void> {
  const known: CsvFormat | (typeof FORMATS)['jsonl'] = FORMATS[name];
  const hasAnswers = fields.length > 0 || (name === 'csv' && (await hasOwnAnswers(db, selection.state)));
  const isCompared = name === 'csv' && (await hasVariants(db, selection.state));
  const format =
    known.kind === 'csv'
      ? {
          ...known,
          columns: [
            ...known.columns,
            ...ownColumns(name, { fields, hasAnswers, hasVariants: isCompared, hasNews }),
          ],
        }
      : known;
  if (format.kind === 'csv') yield { text: headOf(format, byteOrderMark), leadIds: [] };
  const link = format.kind === 'csv' && format.hasLink ? unsubscribeUrl : () => '';
  yield* format.kind === 'csv'
    ? writePages(db, selection, {
        make: (record) => exportedLead(record, link),
        lineOf: (lead) => csvLine(format.columns.map(([, value]) => value(lead, conversion))),
      })
    : writePages(db, selection, {
        make: (record) => personAsJson(record, unsubscribeUrl),
        lineOf: (lead) => `${JSON.stringify(lead)}\n`,
      });
}

async function* writePages<Lead>(
  db: Db,
  selection: LeadSelection,
  { make, lineOf }: { make: (record: LeadRecord) => Lead; lineOf: (lead: Lead) => string },
): AsyncGenerator<Written, void, void> {
  for await (const page of selectLeads(db, selection, make)) {
    const leadIds: string[] = [];
    let text = '';
    for (const { id, lead } of page) {
      text += lineOf(lead);
      leadIds.push(id);
    }
    yield { text, leadIds };
  }
}

function headOf({ preamble, columns }: CsvFormat, byteOrderMark: boolean): string {
  const before = preamble === undefined ? '' : csvLine([preamble]);
  return `${byteOrderMark ? '\uFEFF' : ''}${before}${csvLine(columns.map(([heading]) => heading))}`;
}
