import type { Db } from '#server/db/engine/connect.ts';
import { hasCustomAnswers, hasVariants, contactPages } from '#server/db/contacts/people.ts';
import type { ContactFilter, ContactRecord, ContactState } from '#server/db/contacts/filter.ts';
import { hintOf, hintsOf, isFrom } from '#server/attribution/attribution.ts';
import { csvLine } from '#desk/export/csv.ts';
import {
  exportedLead,
  FORMATS,
  ownColumns,
  personAsJson,
  type Column,
  type CsvFormat,
  type FormatName,
} from '#desk/export/export-columns.ts';
import { hasNews, type LeadSelection } from '#desk/people/selection.ts';
import { unsubscribeUrlOf } from '#server/secrets/mail-links.ts';
import type { Service } from '#server/startup/service.ts';
import { IMPORTED } from '#server/webhooks/lead-as-json.ts';

export type ExportChunk = { readonly text: string; readonly leadIds: readonly string[] };

export async function* selectLeads(
  db: Db,
  { state, source, campaign, limit = Infinity, ...filter }: LeadSelection,
): AsyncGenerator<readonly ContactRecord[], void, void> {
  let remaining = limit;
  const { attributionContains, isFromOrigin } = originFilter({ state, source, campaign });
  for await (const page of contactPages(db, state, { ...filter, attributionContains })) {
    const chosen = page.values().filter(isFromOrigin).take(remaining).toArray();
    remaining -= chosen.length;
    yield chosen;
    if (remaining <= 0) return;
  }
}

/** `attributionContains` is a cheap first filter for SQL, which `isFromOrigin` completes. */
export function originFilter({ state, source, campaign }: LeadSelection): {
  readonly attributionContains: ContactFilter['attributionContains'];
  readonly isFromOrigin: (person: Pick<ContactRecord, 'attribution'>) => boolean;
} {
  const isNamed = source !== undefined && state !== 'imported';
  return {
    attributionContains:
      campaign === undefined ? (isNamed ? hintsOf(source) : undefined) : [hintOf(campaign)],
    isFromOrigin: ({ attribution }) =>
      attribution === null
        ? campaign === undefined && (source ?? IMPORTED) === IMPORTED
        : isFrom(attribution, { source, campaign }),
  };
}

/** @param options byteOrderMark: for spreadsheets that do not detect UTF-8 */
export async function* writeLeads(
  service: Pick<Service, 'database' | 'campaign' | 'config' | 'secrets'>,
  selection: LeadSelection,
  {
    format: name,
    conversionName,
    byteOrderMark = false,
  }: { format: FormatName; conversionName: string; byteOrderMark?: boolean },
): AsyncGenerator<ExportChunk, void, void> {
  const { db } = service.database;
  const format: CsvFormat | (typeof FORMATS)['jsonl'] = FORMATS[name];
  const unsubscribeUrl = unsubscribeUrlOf(service);
  let lineOf = (record: ContactRecord) => `${JSON.stringify(personAsJson(record, unsubscribeUrl))}\n`;
  if (format.kind === 'csv') {
    const columns = [...format.columns, ...(await ownColumnsOf(service, name, selection.state))];
    const link = format.hasLink ? unsubscribeUrl : () => '';
    lineOf = (record) => {
      const lead = exportedLead(record, link);
      return csvLine(columns.map(([, value]) => value(lead, conversionName)));
    };
    const header = [
      ...(byteOrderMark ? ['\uFEFF'] : []),
      ...(format.preamble === undefined ? [] : [csvLine([format.preamble])]),
      csvLine(columns.map(([heading]) => heading)),
    ];
    yield { text: header.join(''), leadIds: [] };
  }
  for await (const page of selectLeads(db, selection))
    yield { text: page.map(lineOf).join(''), leadIds: page.map(({ id }) => id) };
}

async function ownColumnsOf(
  service: Pick<Service, 'database' | 'campaign'>,
  name: FormatName,
  state: ContactState,
): Promise<readonly Column[]> {
  const { db } = service.database;
  const { fields } = service.campaign.form;
  return ownColumns(name, {
    fields,
    hasAnswers: fields.length > 0 || (name === 'csv' && (await hasCustomAnswers(db, state))),
    hasVariants: name === 'csv' && (await hasVariants(db, state)),
    hasNews: await hasNews(service),
  });
}
