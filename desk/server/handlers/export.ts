import * as z from 'zod/mini';

import { EXPORT_PATH, Filter } from '#desk/endpoints/people.ts';
import { checkFormat } from '#desk/export/check-format.ts';
import { FORMAT_NAMES, FORMATS } from '#desk/export/export-columns.ts';
import { writeLeads } from '#desk/export/write-leads.ts';
import { readQuery, type FileCall } from '#desk/server/handlers/files.ts';
import { restingBetween } from '#desk/server/handlers/throttle.ts';
import { describeFilter, selectionOf } from '#desk/people/selection.ts';
import { isoTime } from '#server/platform/time.ts';

const ExportAsked = z.extend(Filter, {
  format: z._default(z.enum(FORMAT_NAMES as [(typeof FORMAT_NAMES)[number]]), 'csv'),
  conversion: z._default(z.string().check(z.minLength(1), z.maxLength(100)), 'Lead'),
});

export const exported: FileCall = {
  path: EXPORT_PATH,
  needs: 'all',
  handle: async ({ service, note, signal }, query) => {
    const { format, conversion, ...filter } = readQuery(ExportAsked, query);
    const selection = selectionOf(filter, service.config);
    checkFormat(format, selection.state);
    // Logged first, because an interrupted export has already disclosed some people.
    await note('exported', null, `${format}: ${describeFilter(filter)}`);
    const pages = writeLeads(service, selection, { format, conversionName: conversion });
    async function* untilGone(): typeof pages {
      for await (const page of pages) {
        signal.throwIfAborted();
        yield page;
      }
    }
    const isJson = FORMATS[format].kind === 'jsonl';
    const name = `${selection.state === 'verified' ? 'leads' : selection.state}-${format}-${isoTime(service.clock()).slice(0, 10)}`;
    return {
      type: isJson ? 'application/x-ndjson; charset=utf-8' : 'text/csv; charset=utf-8',
      fileName: `${name}.${isJson ? 'jsonl' : 'csv'}`,
      body: restingBetween(untilGone()),
    };
  },
};
