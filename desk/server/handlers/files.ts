import { setTimeout } from 'node:timers/promises';

import * as z from 'zod/mini';

import { CommandFailure } from '#desk/command-failure.ts';
import type { Role } from '#desk/endpoints/endpoint.ts';
import { EXPORT_PATH, Filter, PROOF_PATH } from '#desk/endpoints/people.ts';
import { checkFormat, FORMATS, FORMAT_NAMES } from '#desk/export/export-columns.ts';
import { writeLeads } from '#desk/export/write-leads.ts';
import { consentProofs } from '#desk/people/consent-proofs.ts';
import { describeFilter, selectionOf } from '#desk/people/selection.ts';
import type { FileHandler, FileResponse } from '#desk/server/handler.ts';
import { emailOfPerson } from '#server/db/contacts/people.ts';
import { isoTime } from '#server/platform/time.ts';

export type FileCall = {
  readonly path: `/api/${string}`;
  readonly needs: Role;
  readonly handle: FileHandler;
};

export function readQuery<What>(asked: z.ZodMiniType<What>, query: unknown): What {
  const result = asked.safeParse(query);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new CommandFailure(
    `“${issue?.path.join('.') ?? ''}” in the URL is invalid. Go back, and choose again.`,
    2,
  );
}

/** @param fileName absent if the browser should display the page */
export const pageResponse = (html: string, fileName?: string): FileResponse => ({
  type: 'text/html; charset=utf-8',
  ...(fileName !== undefined && { fileName }),
  styles: [...html.matchAll(/<style[^>]*>([^<]*)<\/style>/g)].map(([, styles = '']) => styles),
  body: html,
});

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
    const isJson = FORMATS[format].kind === 'jsonl';
    const name = `${selection.state === 'verified' ? 'leads' : selection.state}-${format}-${isoTime(service.clock()).slice(0, 10)}`;
    return {
      type: isJson ? 'application/x-ndjson; charset=utf-8' : 'text/csv; charset=utf-8',
      fileName: `${name}.${isJson ? 'jsonl' : 'csv'}`,
      body: restingBetween(writeLeads(service, selection, { format, conversionName: conversion }), signal),
    };
  },
};

/**
 * Ratio of pause to work. With 4 and 6, visitors on two cores with PostgreSQL kept 0.88 to 0.9 of their speed; with 9 they kept 0.96, and
 * an export took twice as long as with 4. Measured by `npm run stress:speed desk`.
 */
const REST = 9;
/** Idle connections are closed after a minute. */
const LONGEST_REST_MS = 5_000;

/** Pauses between pages to leave time for visitors. Empty pages cause no pause, because with rare matches the connection would be idle for too long. */
async function* restingBetween(
  pages: AsyncIterable<{ readonly text: string }>,
  signal: AbortSignal,
): AsyncGenerator<string, void, void> {
  let begun = performance.now();
  for await (const { text } of pages) {
    signal.throwIfAborted();
    if (text === '') continue;
    const workedMs = performance.now() - begun;
    yield text;
    await setTimeout(Math.min(workedMs * REST, LONGEST_REST_MS));
    begun = performance.now();
  }
}

const ProofAsked = z.object({ id: z.string() });

/** Idle connections are closed after a minute. */
const LONGEST_MS = 45_000;

/** Prepares one proof at a time, because each checks the whole chain. */
export function createProof(): FileCall {
  let before: Promise<unknown> = Promise.resolve();
  return {
    path: PROOF_PATH,
    needs: 'read',
    handle: async ({ service, note, signal: gone }, query) => {
      const { id } = readQuery(ProofAsked, query);
      const email = await emailOfPerson(service.database.db, id);
      if (email === undefined) return null;
      const tooLong = AbortSignal.timeout(LONGEST_MS);
      const signal = AbortSignal.any([gone, tooLong]);
      const make = async () => {
        signal.throwIfAborted();
        return consentProofs(service, email, { signal });
      };
      const made = before.then(make);
      before = made.catch(() => {});
      const { page } = await made.catch((error: unknown) => {
        if (gone.aborted || error !== tooLong.reason) throw error;
        throw new CommandFailure(
          `The proof took too long for a browser, because it checks all consents. Try again, or run this command on the server: npm run -s desk -- consent export ${email}`,
        );
      });
      await note('exported', email, 'proof of consent');
      return pageResponse(page);
    },
  };
}
