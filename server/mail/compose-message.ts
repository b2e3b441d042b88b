// Composes a mail into the bytes that a mail server is handed, with nodemailer's encoders. nodemailer would compose it through a chain of
// streams, for more than twice the processor time. It still signs the bytes and sends them (mailer.ts).
import { randomUUID } from 'node:crypto';
import path from 'node:path';

import { wrap as wrapBase64 } from 'nodemailer/lib/base64';
import { buildHeaderValue, detectMimeType, foldLines } from 'nodemailer/lib/mime-funcs';
import MimeNode, { type MimeNodeHeaderValue } from 'nodemailer/lib/mime-node';
import { encode as encodeQuotedPrintable, wrap as wrapQuotedPrintable } from 'nodemailer/lib/qp';

/** The longest line that either encoding may write (RFC 2045, sections 6.7 and 6.8). */
const LINE_LENGTH = 76;
const NEW_LINE = '\r\n';

/** What a message consists of. */
export type Message = {
  /** Words and addresses as readers see them, in the order in which they are written. */
  readonly headers: Readonly<Record<string, MimeNodeHeaderValue>>;
  readonly text: string;
  readonly html: string;
  readonly attachment?: { readonly filename: string; readonly content: Buffer };
};

/** Encodes headers: their words (RFC 2047) and their addresses (RFC 5322). */
const encoder = new MimeNode('text/plain');

/** Composes a message, with text and HTML as alternatives (RFC 2046). */
export function composeMessage({ headers, text, html, attachment }: Message): Buffer {
  const letter = multipart('alternative', [textPart('text/plain', text), textPart('text/html', html)]);
  const whole = attachment === undefined ? letter : multipart('mixed', [letter, filePart(attachment)]);
  const written = Object.entries(headers).map(([name, value]) =>
    foldLines(`${name}: ${encoder.encodeHeaderValue(name, value)}`, LINE_LENGTH),
  );
  return Buffer.from([...written, 'MIME-Version: 1.0', whole].join(NEW_LINE));
}

function multipart(kind: 'alternative' | 'mixed', parts: readonly string[]): string {
  const boundary = `part-${randomUUID()}`;
  return [
    `Content-Type: multipart/${kind}; boundary="${boundary}"`,
    '',
    ...parts.flatMap((part) => [`--${boundary}`, part]),
    `--${boundary}--`,
    '',
  ].join(NEW_LINE);
}

/** A part of text, in the shorter of the two encodings that every mail server carries (RFC 2045). */
function textPart(type: string, text: string): string {
  const canonical = text.replaceAll(/\r?\n/g, NEW_LINE);
  const bytes = Buffer.from(canonical);
  const quoted = encodeQuotedPrintable(bytes);
  const isQuotedShorter = quoted.length <= (4 / 3) * bytes.length;
  return [
    `Content-Type: ${type}; charset=utf-8`,
    `Content-Transfer-Encoding: ${isQuotedShorter ? 'quoted-printable' : 'base64'}`,
    '',
    isQuotedShorter
      ? wrapQuotedPrintable(quoted, LINE_LENGTH)
      : wrapBase64(bytes.toString('base64'), LINE_LENGTH),
  ].join(NEW_LINE);
}

function filePart({ filename, content }: { readonly filename: string; readonly content: Buffer }): string {
  return [
    `Content-Type: ${detectMimeType(path.extname(filename).slice(1))}`,
    'Content-Transfer-Encoding: base64',
    foldLines(
      `Content-Disposition: ${buildHeaderValue({ value: 'attachment', params: { filename } })}`,
      LINE_LENGTH,
    ),
    '',
    wrapBase64(content.toString('base64'), LINE_LENGTH),
  ].join(NEW_LINE);
}
