// Reads reports that come back by mail: a mail could not be delivered (RFC 3464), or its reader called it spam (RFC 5965). Returns
// what the report says and which mail it names; whether to believe it is decided in take-message.ts. Parsed with postal-mime: MIT-0,
// no dependencies, limits on depth and headers, by the author of nodemailer.
import PostalMime, { type Attachment, type Email } from 'postal-mime';

/** What a report says about one recipient. */
type RecipientStatus = {
  /** The final recipient and the original one. */
  readonly addresses: readonly string[];
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
  | { readonly type: 'other' };

/** Enough for the report and the headers of the mail it returns. */
export const READ_BYTES = 1024 * 1024;
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

/** Headers in which mail servers note the recipient of a message. */
const CAME_TO = new Set(['to', 'delivered-to', 'x-original-to', 'envelope-to', 'x-envelope-to']);

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
  if (report === null) return { type: 'other' };

  const [aboutAll = new Map<string, string>(), ...aboutEach] = fieldGroups(report);
  const returned = await returnedHeaders(message);
  const named: Named = {
    messageIds: [aboutAll.get('original-message-id'), returned.get('message-id')].filter(isGiven),
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
      addresses: [fields.get('final-recipient'), fields.get('original-recipient')]
        .filter(isGiven)
        // Without the type before the address, such as "rfc822;".
        .map((address) => address.slice(address.indexOf(';') + 1).replaceAll(/[\s<>]/g, '')),
      action: (fields.get('action') ?? '').toLowerCase(),
      answers: [fields.get('status'), fields.get('diagnostic-code')].filter(isGiven),
    })),
    ...named,
  };
}

const isGiven = (text: string | undefined): text is string => text !== undefined && text !== '';

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
