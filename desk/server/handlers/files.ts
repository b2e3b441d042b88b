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
import { emailOfContact } from '#server/db/contacts/people.ts';
import { dayAsText, dayOf } from '#shared/days.ts';

export type FileEndpoint = {
  readonly path: `/api/${string}`;
  readonly needs: Role;
  readonly handle: FileHandler;
};

export function readQuery<Query>(schema: z.ZodMiniType<Query>, query: unknown): Query {
  const result = schema.safeParse(query);
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

const ExportQuery = z.extend(Filter, {
  format: z._default(z.enum(FORMAT_NAMES as [(typeof FORMAT_NAMES)[number]]), 'csv'),
  conversion: z._default(z.string().check(z.minLength(1), z.maxLength(100)), 'Lead'),
});

export const exportFile: FileEndpoint = {
  path: EXPORT_PATH,
  needs: 'all',
  handle: async ({ service, log, signal }, query) => {
    const { format, conversion, ...filter } = readQuery(ExportQuery, query);
    const selection = selectionOf(filter, service.config);
    checkFormat(format, selection.state);
    // Logged first, because an interrupted export has already disclosed some people.
    await log('exported', null, `${format}: ${describeFilter(filter)}`);
    const isJson = FORMATS[format].kind === 'jsonl';
    const day = dayAsText(dayOf(service.clock(), service.config.timeZone));
    const name = `${selection.state === 'verified' ? 'leads' : selection.state}-${format}-${day}`;
    // Excel, which opens the download, shows é as Ã© without a byte order mark.
    const options = { format, conversionName: conversion, byteOrderMark: format === 'csv' };
    return {
      type: isJson ? 'application/x-ndjson; charset=utf-8' : 'text/csv; charset=utf-8',
      fileName: `${name}.${isJson ? 'jsonl' : 'csv'}`,
      body: withPauses(writeLeads(service, selection, options), signal),
    };
  },
};

/**
 * Ratio of pause to work. With 4 and 6, visitors on two cores with PostgreSQL kept 0.88 to 0.9 of their speed; with 9 they kept
 * 0.96, and an export took twice as long as with 4. Measured by `npm run stress:speed desk`.
 */
const PAUSE_RATIO = 9;
/** Idle connections are closed after a minute. */
const MAX_PAUSE_MS = 5_000;

/**
 * Pauses between pages to leave time for visitors. Empty pages cause no pause, because with rare matches the connection would be
 * idle for too long.
 */
async function* withPauses(
  pages: AsyncIterable<{ readonly text: string }>,
  signal: AbortSignal,
): AsyncGenerator<string, void, void> {
  let startedAt = performance.now();
  for await (const { text } of pages) {
    signal.throwIfAborted();
    if (text === '') continue;
    const workedMs = performance.now() - startedAt;
    yield text;
    await setTimeout(Math.min(workedMs * PAUSE_RATIO, MAX_PAUSE_MS));
    startedAt = performance.now();
  }
}

const ProofQuery = z.object({ id: z.string() });

/** Idle connections are closed after a minute. */
const PROOF_TIMEOUT_MS = 45_000;

/** Prepares one proof at a time, because each checks the whole chain. */
export function createProof(): FileEndpoint {
  let previous: Promise<unknown> = Promise.resolve();
  return {
    path: PROOF_PATH,
    needs: 'read',
    handle: async ({ service, log, signal: disconnected }, query) => {
      const { id } = readQuery(ProofQuery, query);
      const email = await emailOfContact(service.database.db, id);
      if (email === undefined) return null;
      const timeout = AbortSignal.timeout(PROOF_TIMEOUT_MS);
      const signal = AbortSignal.any([disconnected, timeout]);
      const make = async () => {
        signal.throwIfAborted();
        return consentProofs(service, email, { signal });
      };
      const proof = previous.then(make);
      previous = proof.catch(() => {});
      const { page } = await proof.catch((error: unknown) => {
        if (disconnected.aborted || error !== timeout.reason) throw error;
        throw new CommandFailure(
          `The proof took too long for a browser, because it checks all consents. Try again, or run this command on the server: npm run -s desk -- consent export ${email}`,
        );
      });
      await log('exported', email, 'proof of consent');
      return pageResponse(page);
    },
  };
}
