// The people of a filter as a file, written while it is read.
import { setTimeout } from 'node:timers/promises';

import * as z from 'zod/mini';

import { EXPORT_PATH, Filter, PEOPLE_HEADER } from '#desk/calls/people.ts';
import { refuseUnproven } from '#desk/export/refuse-unproven.ts';
import { FORMAT_NAMES, FORMATS } from '#desk/export/export-columns.ts';
import { writeLeads } from '#desk/export/write-leads.ts';
import { readQuery, type FileCall } from '#desk/http/answers/files.ts';
import { selectionOf } from '#desk/people/selection.ts';
import { shownSource } from '#server/attribution/source.ts';
import { countAtMost } from '#server/db/across/lead-pages.ts';
import { isoTime } from '#server/platform/time.ts';
import { unsubscribeUrlOf } from '#server/secrets/mail-links.ts';

const ExportAsked = z.extend(Filter, {
  format: z._default(z.enum(FORMAT_NAMES as [(typeof FORMAT_NAMES)[number]]), 'csv'),
  /** What the conversion is called in Google Ads, Microsoft Ads or Meta. */
  conversion: z._default(z.string().check(z.minLength(1), z.maxLength(100)), 'Lead'),
});

/**
 * After each page, an export rests this many times as long as the page took, because visitors share the machine with it. Without rests, they
 * kept 0.7 of their speed on two cores (docs/desk.md says what they keep now).
 */
const REST = 4;

export const exported: FileCall = {
  path: EXPORT_PATH,
  needs: 'all',
  handle: async ({ service, note, signal }, query) => {
    const { format, conversion, ...filter } = readQuery(ExportAsked, query);
    const selection = selectionOf(filter);
    refuseUnproven({ state: selection.state, format });
    const { database, campaign, clock } = service;
    const atMost = await countAtMost(database.db, selection.state, selection);
    // Before the first person goes out: an export that breaks off has shown some.
    await note('exported', null, `${format}: ${sayFilter(filter)}`);
    const pages = writeLeads(database.db, selection, {
      format,
      conversion: { name: conversion },
      unsubscribeUrl: unsubscribeUrlOf(service),
      fields: campaign.form.fields,
    });
    async function* texts(): AsyncGenerator<string, void, void> {
      let begun = performance.now();
      for await (const { text } of pages) {
        signal.throwIfAborted();
        const workedMs = performance.now() - begun;
        if (text !== '') yield text;
        await setTimeout(workedMs * REST);
        begun = performance.now();
      }
    }
    const isJson = FORMATS[format].kind === 'jsonl';
    const name = `${selection.state === 'verified' ? 'leads' : selection.state}-${format}-${isoTime(clock()).slice(0, 10)}`;
    return {
      type: isJson ? 'application/x-ndjson; charset=utf-8' : 'text/csv; charset=utf-8',
      fileName: `${name}.${isJson ? 'jsonl' : 'csv'}`,
      headers: { [PEOPLE_HEADER]: String(atMost) },
      body: texts(),
    };
  },
};

/** Which filters were set, for the record. What was searched for is left out: it may be an address. */
const sayFilter = ({ state, source, flag, from, to, ...others }: Filter): string =>
  [
    state,
    ...(source ? [`source ${shownSource(source)}`] : []),
    ...(flag ? [flag] : []),
    ...(from ? [`from ${from}`] : []),
    ...(to ? [`to ${to}`] : []),
    ...(others.search ? ['with a search'] : []),
    ...(others.answer ? ['with an answer'] : []),
    ...(others.domain ? ['of a domain'] : []),
  ].join(', ');
