// Reads CSV, with commas, semicolons or tabs; in UTF-8 or UTF-16.
import type { FileHandle } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';

import { CsvError, parse } from 'csv-parse';

import { CommandFailure } from '#desk/command-failure.ts';
import { withoutApostrophe } from '#desk/export/csv.ts';
import { errorCode } from '#server/platform/system-errors.ts';

type Row = {
  /** The first line of the row; counted from 1. */
  readonly line: number;
  readonly cells: readonly string[];
};

const SEPARATORS = [',', ';', '\t'] as const;
/** In characters. A longer row usually contains an unclosed quotation mark. */
const MAX_ROW_LENGTH = 100_000;
const HEAD_LENGTH = 64_000;

/** @throws {CommandFailure} if the file cannot be read as CSV */
export async function* readRows(name: string, file: FileHandle): AsyncGenerator<Row, void, void> {
  try {
    if (await isZip(file))
      throw new CommandFailure(`${name} is a spreadsheet or a ZIP file. Save it as CSV, or unpack it first.`);
    const texts = decode(file, await encodingOf(file));
    const first = await texts.next();
    const head = first.done ? '' : first.value;
    if (/^\uFEFF?\s*(?:\{|\[\s*[{\]])/.test(head))
      throw new CommandFailure(`${name} is JSON. Export the people as CSV.`);
    const { separator, rest, linesBefore } = separatorOf(head);
    const parser = parse({
      delimiter: separator,
      info: true,
      max_record_size: MAX_ROW_LENGTH,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      trim: true,
    });
    pipeline(Readable.from(prepend(rest, texts)), parser, () => {});
    let countedTwice = 0;
    for await (const { record, info } of parser as AsyncIterable<{
      record: string[];
      info: { lines: number };
    }>) {
      const text = record.join(' ');
      // The parser reports the end of a row, and counts a CRLF in a cell twice.
      const line = info.lines - countedTwice - (text.match(/[\r\n]/g)?.length ?? 0);
      countedTwice += text.match(/\r\n/g)?.length ?? 0;
      // The parser trims only cells without quotation marks.
      yield { line: line + linesBefore, cells: record.map((cell) => withoutApostrophe(cell.trim())) };
    }
  } catch (error) {
    const sentence = explain(error);
    throw sentence === null ? error : new CommandFailure(`${name} ${sentence}`);
  }
}

async function* prepend(head: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield head;
  yield* rest;
}

async function* decode(file: FileHandle, encoding: string): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  let text = '';
  for await (const chunk of file.createReadStream({ start: 0, autoClose: false })) {
    text += decoder.decode(chunk as Buffer, { stream: true });
    if (text.length < HEAD_LENGTH) continue;
    yield text;
    text = '';
  }
  yield text + decoder.decode();
}

async function isZip(file: FileHandle): Promise<boolean> {
  const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
  return buffer.toString('latin1') === 'PK\u0003\u0004';
}

/** Detects the encoding. Without a byte order mark, zero bytes reveal UTF-16. */
async function encodingOf(file: FileHandle): Promise<'utf-8' | 'utf-16le' | 'utf-16be'> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
  if (bytesRead < 2) return 'utf-8';
  const [one, two] = buffer;
  if ((one === 0xff && two === 0xfe) || two === 0) return 'utf-16le';
  if ((one === 0xfe && two === 0xff) || one === 0) return 'utf-16be';
  return 'utf-8';
}

function separatorOf(head: string): { separator: string; rest: string; linesBefore: number } {
  const [line = '', declared] = /^sep=(.)\r?\n/i.exec(head) ?? [];
  if (declared !== undefined) return { separator: declared, rest: head.slice(line.length), linesBefore: 1 };
  const unquoted = head.replaceAll(/"[^"]*"/g, '').trimStart();
  const [headings = ''] = unquoted.split(/\r\n|\r|\n/, 1);
  const counts = SEPARATORS.map((separator) => headings.split(separator).length);
  return { separator: SEPARATORS[counts.indexOf(Math.max(...counts))]!, rest: head, linesBefore: 0 };
}

/** @returns the rest of a sentence that begins with the file's name */
function explain(error: unknown): string | null {
  if (errorCode(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA')
    return 'is neither UTF-8 nor UTF-16. Export it again as "CSV UTF-8".';
  if (error instanceof CsvError) {
    const line = typeof error['lines'] === 'number' ? ` near line ${error['lines']}` : '';
    if (error.code === 'CSV_MAX_RECORD_SIZE')
      return `cannot be read${line}, because a row has more than ${MAX_ROW_LENGTH} characters, perhaps after an unclosed quotation mark. Fix that line, or export the file again without long columns.`;
    return `cannot be read${line}, because a quotation mark is unclosed or misplaced. Fix that line, or export the file again.`;
  }
  return null;
}
