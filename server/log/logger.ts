// Logs an error's type, code, table, constraint and stack, but never its message, which may quote input: PostgreSQL prints the
// row, and mail servers print the e-mail address.
import { pino, type DestinationStream, type Logger } from 'pino';

import { openLogOutput, type LogOutput } from '#server/log/log-output.ts';
import { isoTime } from '#server/platform/time.ts';

export type LoggedError = {
  readonly type: string;
  readonly code?: string | number;
  readonly errcode?: number;
  readonly table?: string;
  readonly constraint?: string;
  readonly stack?: readonly string[];
  readonly cause?: LoggedError;
  readonly errors?: readonly LoggedError[];
};

const MAX_DEPTH = 4;
const MAX_ERRORS = 5;
const MAX_FRAMES = 20;

/**
 * Reduces a thrown value to its loggable parts: numbers, and texts in a format too narrow for sentences, addresses or codes.
 */
export function describeError(thrown: unknown, depth = 0): LoggedError {
  if (!(thrown instanceof Error)) return { type: `thrown ${typeof thrown}` };
  const { code, errcode } = thrown as { code?: unknown; errcode?: unknown };
  const { table, constraint } = schemaLocation(thrown);
  const stack = framesOf(thrown);
  const canRecurse = depth < MAX_DEPTH;
  return {
    type: identifier(thrown.constructor.name) ?? 'Error',
    ...(isCode(code) && { code }),
    ...(typeof errcode === 'number' && { errcode }),
    ...(table !== undefined && { table }),
    ...(constraint !== undefined && { constraint }),
    ...(stack.length > 0 && { stack }),
    ...(canRecurse && thrown.cause !== undefined && { cause: describeError(thrown.cause, depth + 1) }),
    ...(canRecurse &&
      thrown instanceof AggregateError && {
        errors: thrown.errors.slice(0, MAX_ERRORS).map((error) => describeError(error, depth + 1)),
      }),
  };
}

const identifier = (text: unknown): string | undefined =>
  typeof text === 'string' && /^[A-Za-z_]\w{0,62}$/.test(text) ? text : undefined;

/**
 * Accepts codes such as 23505, ECONNREFUSED, ERR_SQLITE_ERROR or -111, but never six digits, which could be a one-time code.
 */
const isCode = (code: unknown): code is string | number =>
  (typeof code === 'number' && Math.abs(code) < 100_000) ||
  (typeof code === 'string' && (/^[A-Z][A-Z0-9_]{1,60}$/.test(code) || /^[0-9A-Z]{5}$/.test(code)));

const SQLITE_CONSTRAINT = 19;
/** SQLite names table and column only in its message. The message of a trigger can be any text. */
const SQLITE_CONSTRAINT_MESSAGE = /^(?:UNIQUE|NOT NULL) constraint failed: (\w+)\.(\w+)(?:, \w+\.\w+)*$/;
const SQLITE_CONSTRAINTS: Readonly<Record<number, string>> = {
  275: 'CHECK',
  787: 'FOREIGN KEY',
  1299: 'NOT NULL',
  1555: 'PRIMARY KEY',
  1811: 'TRIGGER',
  2067: 'UNIQUE',
};

function schemaLocation(error: Error): { table?: string | undefined; constraint?: string | undefined } {
  const { errcode, table, constraint } = error as { errcode?: number; table?: unknown; constraint?: unknown };
  if (typeof errcode !== 'number') return { table: identifier(table), constraint: identifier(constraint) };
  if ((errcode & 0xff) !== SQLITE_CONSTRAINT) return {};
  const kind = SQLITE_CONSTRAINTS[errcode];
  if (kind === 'TRIGGER') return { constraint: kind };
  const [, sqliteTable, column] = SQLITE_CONSTRAINT_MESSAGE.exec(error.message) ?? [];
  return { table: sqliteTable, constraint: [kind, column].filter(Boolean).join(' ') || undefined };
}

const FRAME = /^ {4}at (?:[^@\n]*\()?(?:file:|node:|\/|[A-Z]:\\)[^@\n]*:\d+:\d+\)?$/;
/** Packages of an organisation (node_modules/@fastify/…) contain an @, as e-mail addresses do. */
const withoutScopes = (line: string): string => line.replaceAll('/node_modules/@', '/node_modules/');

function framesOf({ message, stack = '' }: Error): string[] {
  const start = stack.indexOf(message);
  if (start < 0 && message.includes('\n')) return [];
  return stack
    .slice(start < 0 ? 0 : start + message.length)
    .split('\n')
    .filter((line) => FRAME.test(withoutScopes(line)))
    .slice(0, MAX_FRAMES)
    .map((line) => line.trim());
}

const NO_MESSAGE = 'This error has no message.';

/** @param args as pino accepts them: (error, message?), ({ err, … }, message?, …values) or (message, …values) */
function withoutErrorMessages(args: unknown[]): unknown[] {
  const [first, ...rest] = args;
  if (first instanceof Error) return withoutErrorMessages([{ err: first }, ...rest]);
  const fields: [string, unknown][] =
    typeof first === 'object' && first !== null ? Object.entries(first) : [];
  const errors = [...fields.map(([, value]) => value), ...rest].filter((value) => value instanceof Error);
  if (errors.length === 0) return args;
  const described = Object.fromEntries(
    fields.map(([key, value]) => [key, value instanceof Error ? describeError(value) : value]),
  );
  const [message, ...values] = rest.map((value) =>
    value instanceof Error ? describeError(value).type : value,
  );
  // Fastify logs some errors with their own message.
  const quotesAnError =
    message === undefined || errors.some((error) => error.message !== '' && error.message === message);
  return [fields.length > 0 ? described : first, quotesAnError ? NO_MESSAGE : message, ...values];
}

export type Announce = (sentence: string, level?: 'info' | 'warn') => void;

/** @param output a terminal gets plain sentences; anything else gets log lines, so that programs can parse the whole output */
export function createAnnounce(output: Pick<LogOutput, 'isTTY' | 'write'>): Announce {
  if (!output.isTTY) {
    const logger = pino({ base: null }, output);
    return (sentence, level = 'info') => logger[level](sentence);
  }
  return (sentence, level) => output.write(`${level === 'warn' ? 'Warning: ' : ''}${sentence}\n`);
}

export function createLogger(level: string, destination: DestinationStream): Logger {
  const options = {
    level,
    serializers: {
      err: (error: unknown) => (error instanceof Error ? describeError(error) : error),
      // Fastify's serializer would log the IP address and the full URL.
      req: ({ method }: { method?: unknown }) => ({ method }),
    },
    hooks: {
      // Runs before pino copies an error's message.
      logMethod(this: Logger, args: unknown[], method: (...args: unknown[]) => void): void {
        method.apply(this, withoutErrorMessages(args));
      },
    },
  };
  return pino(options, destination);
}

export function openServerLog(
  level: string,
): { readonly logger: Logger; readonly announce: Announce } & Pick<LogOutput, 'linesLost' | 'flush'> {
  const output = openLogOutput(({ count, since, until }) =>
    announce(
      `${count} log lines could not be written between ${isoTime(since)} and ${isoTime(until)}.`,
      'warn',
    ),
  );
  const announce = createAnnounce(output);
  const { linesLost, flush } = output;
  return { logger: createLogger(level, output), announce, linesLost, flush };
}
