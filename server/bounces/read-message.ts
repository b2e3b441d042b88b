// Reads reports that come back by mail: a mail could not be delivered (RFC 3464), or its reader called it spam (RFC 5965). Returns
// what the report says and which mail it names; whether to believe it is decided in take-message.ts. Parsed with postal-mime: MIT-0,
// no dependencies, limits on depth and headers, by the author of nodemailer.
import PostalMime, { type Attachment, type Email } from 'postal-mime';

/** What a report says about one recipient. */
type RecipientStatus = {
  /** The final recipient: mail to the original one may have been forwarded. Of a report that names no final one, the original. */
  readonly address: string;
  /** `failed`, `delayed`, `delivered` …, in lower case. */
  readonly action: string;
  /** The status, and the mail server's reply behind it. */
  readonly answers: readonly string[];
};

type Named = {
  /** Message ids of the mail that the report may be about, unchecked. */
  readonly messageIds: readonly string[];
  /** Addresses that the report came to, unchecked; one may be our signed return path. */
  readonly cameTo: readonly string[];
  /** Its date, unchecked, in milliseconds since 1970; null when it has none. */
  readonly writtenAt: number | null;
};

export type ReturnedMessage =
  | ({ readonly type: 'delivery status'; readonly recipients: readonly RecipientStatus[] } & Named)
  /** feedback: its type, such as `abuse` or `not-spam`. */
  | ({ readonly type: 'feedback'; readonly feedback: string } & Named)
  /** A report of a failed delivery in words alone, as the program of this name writes it. */
  | { readonly type: 'unreadable report'; readonly program: string }
  | { readonly type: 'other' };

/** Enough for the report and the headers of the mail it returns. */
const READ_BYTES = 1024 * 1024;
const MAX_HEADER_BYTES = 256 * 1024;
const MAX_NESTING = 20;

const PARSING = {
  attachmentEncoding: 'utf8',
  // Keeps the returned mail as an attachment instead of merging its text.
  forceRfc822Attachments: true,
  maxNestingDepth: MAX_NESTING,
  maxHeadersSize: MAX_HEADER_BYTES,
} as const;

/** The types of RFC 3464, and those of RFC 6533 for addresses beyond ASCII. */
const DELIVERY_STATUS = ['message/delivery-status', 'message/global-delivery-status'];
const FEEDBACK = ['message/feedback-report'];
const RETURNED = ['message/rfc822', 'message/global', 'text/rfc822-headers', 'message/global-headers'];

/** Headers of the returned mail: a relay that gives it another Message-ID keeps ours in one of the others. */
const NAME_THE_MAIL = ['message-id', 'x-original-message-id', 'original-message-id', 'references'];

/** Headers in which mail servers note the recipient of a message. */
const CAME_TO = new Set(['to', 'delivered-to', 'x-original-to', 'envelope-to', 'x-envelope-to']);

/** The line before each message of an mbox: From, the sender, and the time. */
const MBOX_LINE = /^From \S.*\d\d:\d\d/;
const LINE_FEED = 0x0a;

/**
 * Divides what a file or a pipe brings into messages: several in an mbox, otherwise one.
 * @returns the first {@link READ_BYTES} of each
 */
export async function* messagesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  let isMbox: boolean | null = null;
  let isAfterEmptyLine = false;
  for await (const line of linesOf(chunks)) {
    const isBoundary = MBOX_LINE.test(Buffer.from(line.subarray(0, 200)).toString('latin1'));
    isMbox ??= isBoundary;
    if (isMbox && isBoundary && isAfterEmptyLine) {
      yield Buffer.concat(parts);
      parts = [];
      bytes = 0;
    }
    if (bytes < READ_BYTES) parts.push(line);
    bytes += line.length;
    isAfterEmptyLine =
      line.length <= 2 && line.at(-1) === LINE_FEED && (line.length === 1 || line[0] === 0x0d);
  }
  yield Buffer.concat(parts);
}

/** Lines with their ends; a very long one comes in pieces. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  let begun: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      yield Buffer.concat([...begun, chunk.subarray(from, end + 1)]);
      begun = [];
      bytes = 0;
      from = end + 1;
    }
    begun.push(chunk.subarray(from));
    bytes += chunk.length - from;
    if (bytes < READ_BYTES) continue;
    yield Buffer.concat(begun);
    begun = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(begun);
}

/**
 * Reads one message.
 * @param raw as it came, or its first {@link READ_BYTES}
 * @returns `other` when it is no such report, or a broken one
 */
export async function readReturnedMessage(raw: Uint8Array): Promise<ReturnedMessage> {
  let message: Email;
  try {
    message = await PostalMime.parse(withoutMboxLine(raw.subarray(0, READ_BYTES)), PARSING);
  } catch {
    // Nested too deep, or with a megabyte of headers.
    return { type: 'other' };
  }
  const status = partOf(message, DELIVERY_STATUS);
  const feedback = status === null ? partOf(message, FEEDBACK) : null;
  const report = status ?? feedback;
  if (report === null) {
    const program = programOf(message);
    return program === null ? { type: 'other' } : { type: 'unreadable report', program };
  }

  const [aboutAll = new Map<string, string>(), ...aboutEach] = fieldGroups(report);
  const returned = await returnedHeaders(message);
  const named: Named = {
    messageIds: [
      aboutAll.get('original-message-id'),
      ...NAME_THE_MAIL.map((name) => returned.get(name)),
    ].filter(isGiven),
    cameTo: [
      ...message.headers.filter(({ key }) => CAME_TO.has(key)).map(({ value }) => value),
      aboutAll.get('original-mail-from'),
      returned.get('return-path'),
    ].filter(isGiven),
    writtenAt: timeOf(message.date),
  };
  if (feedback !== null)
    return { type: 'feedback', feedback: (aboutAll.get('feedback-type') ?? '').toLowerCase(), ...named };
  return {
    type: 'delivery status',
    recipients: aboutEach.map((fields) => ({
      address: addressIn(fields.get('final-recipient') ?? fields.get('original-recipient') ?? ''),
      // A comment may follow.
      action: /^[\w-]*/.exec(fields.get('action') ?? '')![0].toLowerCase(),
      answers: [fields.get('status'), fields.get('diagnostic-code')].filter(isGiven),
    })),
    ...named,
  };
}

const isGiven = (text: string | undefined): text is string => text !== undefined && text !== '';

/** The address in a field such as `rfc822; <ada@example.com> (Ada)`. */
function addressIn(field: string): string {
  const text = field.slice(field.indexOf(';') + 1);
  return (/<([^<>]*)>/.exec(text)?.[1] ?? text.replaceAll(/\([^()]*\)/g, '')).replaceAll(/\s/g, '');
}

/** Which program wrote a report of a failed delivery that is for people alone. */
function programOf({ headers, subject = '', text = '' }: Email): string | null {
  if (/^Hi\. This is the .* program at /m.test(text)) return 'qmail';
  if (headers.some(({ key }) => key === 'x-failed-recipients')) return 'Exim';
  if (subject.startsWith('DELIVERY FAILURE: ')) return 'Domino';
  const isFromDaemon = headers.some(
    ({ key, value }) => key === 'from' && /mailer-daemon|postmaster@/i.test(value),
  );
  return isFromDaemon && /undeliver|returned|delivery|failure|failed/i.test(subject) ? 'a mail server' : null;
}

/** Removes the line that mail servers put before a message that they pipe to a program. */
function withoutMboxLine(raw: Uint8Array): Uint8Array {
  const isThere = Buffer.from(raw.subarray(0, 5)).toString('latin1') === 'From ';
  return isThere ? raw.subarray(raw.indexOf(0x0a) + 1) : raw;
}

const textOf = ({ content }: Attachment): string =>
  typeof content === 'string' ? content : Buffer.from(new Uint8Array(content)).toString('utf8');

function partOf({ attachments }: Email, types: readonly string[]): string | null {
  const part = attachments.find(({ mimeType }) => types.includes(mimeType));
  return part === undefined ? null : textOf(part);
}

/** Reads groups of `Name: value`, divided by empty lines; a line that begins with a space continues the line before. */
function fieldGroups(text: string): Map<string, string>[] {
  return text
    .trim()
    .split(/\r?\n[ \t]*\r?\n\s*/)
    .map((group) => {
      const fields = new Map<string, string>();
      for (const line of group.replaceAll(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
        const colon = line.indexOf(':');
        const name = line.slice(0, colon).trim().toLowerCase();
        if (colon > 0 && !fields.has(name)) fields.set(name, line.slice(colon + 1).trim());
      }
      return fields;
    });
}

/** The headers of the returned mail, of which the report may hold only a part. */
async function returnedHeaders(message: Email): Promise<ReadonlyMap<string, string>> {
  const text = partOf(message, RETURNED);
  if (text === null) return new Map();
  const [head = ''] = text.trimStart().split(/\r?\n\r?\n/, 1);
  try {
    const { headers } = await PostalMime.parse(`${head}\r\n\r\n`, PARSING);
    return new Map(headers.map(({ key, value }) => [key, value]));
  } catch {
    return new Map();
  }
}

function timeOf(date: string | undefined): number | null {
  const time = Date.parse(date ?? '');
  return Number.isNaN(time) ? null : time;
}
