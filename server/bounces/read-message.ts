// Reads reports of failed deliveries (RFC 3464) and complaints (RFC 5965); accept-report.ts decides whether to believe them.
import PostalMime, { type Email } from 'postal-mime';

type RecipientStatus = {
  readonly address: string;
  /** Such as `failed`, `delayed` or `delivered`, in lower case. */
  readonly action: string;
  readonly replies: readonly string[];
};

/** As claimed by the message. */
type Identification = {
  readonly messageIds: readonly string[];
  /** One of these may be our signed return path. */
  readonly deliveredTo: readonly string[];
  readonly writtenAt: number | null;
};

export type ReturnedMessage =
  | ({ readonly type: 'delivery status'; readonly recipients: readonly RecipientStatus[] } & Identification)
  /** `feedback` is the type of feedback, such as `abuse` or `not-spam`. */
  | ({ readonly type: 'feedback'; readonly feedback: string } & Identification)
  | { readonly type: 'unreadable report'; readonly program: string }
  | { readonly type: 'other' };

/** Enough for the report and the returned headers. */
const MAX_READ_BYTES = 1024 * 1024;
const MAX_HEADER_BYTES = 256 * 1024;
const MAX_NESTING = 20;

const PARSING = {
  attachmentEncoding: 'utf8',
  forceRfc822Attachments: true,
  maxNestingDepth: MAX_NESTING,
  maxHeadersSize: MAX_HEADER_BYTES,
} as const;

/** RFC 3464, and RFC 6533 for non-ASCII addresses. */
const DELIVERY_STATUS = ['message/delivery-status', 'message/global-delivery-status'];
const FEEDBACK = ['message/feedback-report'];
const RETURNED = ['message/rfc822', 'message/global', 'text/rfc822-headers', 'message/global-headers'];

/** A relay that replaces our Message-ID copies it to another header. */
const MESSAGE_ID_HEADERS = ['message-id', 'x-original-message-id', 'original-message-id', 'references'];

const DELIVERED_TO = new Set(['to', 'delivered-to', 'x-original-to', 'envelope-to', 'x-envelope-to']);

/** Splits an mbox into its messages; any other input is one message. */
export async function* messagesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const text = Buffer.concat(await Array.fromAsync(chunks)).toString('latin1');
  const isMbox = /^From \S.*\d\d:\d\d/.test(text);
  for (const message of isMbox ? text.split(/(?<=\n\r?\n)(?=From \S.*\d\d:\d\d)/) : [text])
    yield Buffer.from(message, 'latin1');
}

export async function readReturnedMessage(raw: Uint8Array): Promise<ReturnedMessage> {
  let message: Email;
  try {
    message = await PostalMime.parse(withoutMboxLine(raw.subarray(0, MAX_READ_BYTES)), PARSING);
  } catch {
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
  const identification: Identification = {
    messageIds: [
      aboutAll.get('original-message-id'),
      ...MESSAGE_ID_HEADERS.map((name) => returned.get(name)),
    ].filter(isPresent),
    deliveredTo: [
      ...message.headers.filter(({ key }) => DELIVERED_TO.has(key)).map(({ value }) => value),
      aboutAll.get('original-mail-from'),
      returned.get('return-path'),
    ].filter(isPresent),
    writtenAt: timeOf(message.date),
  };
  if (feedback !== null)
    return {
      type: 'feedback',
      feedback: (aboutAll.get('feedback-type') ?? '').toLowerCase(),
      ...identification,
    };
  return {
    type: 'delivery status',
    recipients: aboutEach.map((fields) => ({
      address: addressIn(fields.get('final-recipient') ?? fields.get('original-recipient') ?? ''),
      action: /^[\w-]*/.exec(fields.get('action') ?? '')![0].toLowerCase(),
      replies: [fields.get('status'), fields.get('diagnostic-code')].filter(isPresent),
    })),
    ...identification,
  };
}

const isPresent = (text: string | undefined): text is string => text !== undefined && text !== '';

/** Finds the address in a field such as `rfc822; <ada@example.com> (Ada)`. */
function addressIn(field: string): string {
  const text = field.slice(field.indexOf(';') + 1);
  return (/<([^<>]*)>/.exec(text)?.[1] ?? text.replaceAll(/\([^()]*\)/g, '')).replaceAll(/\s/g, '');
}

function programOf({ headers, subject = '', text = '' }: Email): string | null {
  if (/^Hi\. This is the .* program at /m.test(text)) return 'qmail';
  if (headers.some(({ key }) => key === 'x-failed-recipients')) return 'Exim';
  if (subject.startsWith('DELIVERY FAILURE: ')) return 'Domino';
  const isFromDaemon = headers.some(
    ({ key, value }) => key === 'from' && /mailer-daemon|postmaster@/i.test(value),
  );
  return isFromDaemon && /undeliver|returned|delivery|failure|failed/i.test(subject) ? 'a mail server' : null;
}

/** Mail servers add this line when they pipe a message to a program. */
function withoutMboxLine(raw: Uint8Array): Uint8Array {
  const hasMboxLine = Buffer.from(raw.subarray(0, 5)).toString('latin1') === 'From ';
  return hasMboxLine ? raw.subarray(raw.indexOf(0x0a) + 1) : raw;
}

function partOf({ attachments }: Email, types: readonly string[]): string | null {
  const part = attachments.find(({ mimeType }) => types.includes(mimeType));
  // PARSING requests text.
  return part === undefined ? null : (part.content as string);
}

/** An empty line ends a group; a line that begins with a space continues the previous one. */
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
