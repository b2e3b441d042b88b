// Answers that are files or pages to print, not JSON.
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';

import type * as z from 'zod/mini';

import type { Role } from '#desk/calls/call.ts';
import type { DeskContext } from '#desk/http/handler.ts';

export type TextAnswer = {
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is read as fast as the browser takes it. */
  readonly body: string | Readable;
};

/** A call that is answered with a file or a page. Failures are those of a Handler. */
export type TextCall<What> = {
  readonly path: `/api/${string}`;
  readonly needs: Role;
  /** In the query. */
  readonly asked: z.ZodMiniType<What>;
  readonly answer: (context: DeskContext, asked: What) => Promise<TextAnswer | null>;
};

/** A page of ours that needs no other file. Its policy lets its own styles through, by their hashes, and nothing else. */
export const pageAnswer = (html: string, headers: Readonly<Record<string, string>> = {}): TextAnswer => ({
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policyOf(html),
    ...headers,
  },
  body: html,
});

function policyOf(html: string): string {
  const hashes = [...html.matchAll(/<style[^>]*>([^<]*)<\/style>/g)].map(
    ([, styles = '']) => `'sha256-${createHash('sha256').update(styles).digest('base64')}'`,
  );
  return [
    "default-src 'none'",
    `style-src ${hashes.length === 0 ? "'none'" : hashes.join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** @param name of a file, without anything that would have to be escaped */
export const asDownload = (name: string) => ({ 'content-disposition': `attachment; filename="${name}"` });
