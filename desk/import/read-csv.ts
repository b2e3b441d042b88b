// Reads a CSV as other tools write it: separated by commas, semicolons or tabs, in UTF-8 or UTF-16, with a byte order mark or
// without. A row at a time, so a large file needs no more memory than a small one.
import type { FileHandle } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';

import { CsvError, parse } from 'csv-parse';

import { errorCode } from '#server/platform/error-code.ts';

export type CsvEvent =
  | {
      readonly type: 'row';
      /** Where the row ends in the file; the first is 1. */
      readonly line: number;
      /** Without white space around them. Rows in which nothing stands are left out. */
      readonly cells: readonly string[];
    }
  /** Nothing can be read from here on. A sentence that says what to do, to follow the name of the file. */
  | { readonly type: 'fault'; readonly sentence: string };

const SEPARATORS = [',', ';', '\t'] as const;
/** In characters. A longer row comes most often from a quotation mark that is not closed. */
const LONGEST_ROW = 100_000;
/** In characters. The row of headings is within it. */
const HEAD_LENGTH = 64_000;

/** @param file open for reading; it is read from its beginning, and stays open */
export async function* readCsv(file: FileHandle): AsyncGenerator<CsvEvent, void, void> {
  try {
    const texts = decode(file, await encodingOf(file));
    const first = await texts.next();
    const head = first.done ? '' : first.value;
    const { separator, rest, linesBefore } = separatorOf(head);
    const parser = parse({
      delimiter: separator,
      info: true,
      max_record_size: LONGEST_ROW,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      trim: true,
    });
    // Errors come out of the parser, below.
    pipeline(Readable.from(startingWith(rest, texts)), parser, () => {});
    for await (const { record, info } of parser as AsyncIterable<{
      record: string[];
      info: { lines: number };
    }>)
      yield { type: 'row', line: info.lines + linesBefore, cells: record };
  } catch (error) {
    const sentence = explain(error);
    if (sentence === null) throw error;
    yield { type: 'fault', sentence };
  }
}

async function* startingWith(head: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
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

/** By the byte order mark; without one, by the zero bytes of Latin letters in UTF-16. */
async function encodingOf(file: FileHandle): Promise<'utf-8' | 'utf-16le' | 'utf-16be'> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
  if (bytesRead < 2) return 'utf-8';
  const [one, two] = buffer;
  if ((one === 0xff && two === 0xfe) || two === 0) return 'utf-16le';
  if ((one === 0xfe && two === 0xff) || one === 0) return 'utf-16be';
  return 'utf-8';
}

/** The most frequent separator among the headings, outside quotation marks; or the one that Excel's first line names (sep=;). */
function separatorOf(head: string): { separator: string; rest: string; linesBefore: number } {
  const [line = '', named] = /^sep=(.)\r?\n/i.exec(head) ?? [];
  if (named !== undefined) return { separator: named, rest: head.slice(line.length), linesBefore: 1 };
  const bare = head.replaceAll(/"[^"]*"/g, '').trimStart();
  const [headings = ''] = bare.split(/\r\n|\r|\n/, 1);
  const counts = SEPARATORS.map((separator) => headings.split(separator).length);
  return { separator: SEPARATORS[counts.indexOf(Math.max(...counts))]!, rest: head, linesBefore: 0 };
}

function explain(error: unknown): string | null {
  if (error instanceof CsvError) {
    const line = typeof error['lines'] === 'number' ? ` near line ${error['lines']}` : '';
    if (error.code === 'CSV_MAX_RECORD_SIZE')
      return `cannot be read on${line}: a row there has more than ${LONGEST_ROW} characters, perhaps because a quotation mark is not closed. Mend that line, or export the file anew without long columns.`;
    return `cannot be read on${line}: a quotation mark is not closed, or stands where none may. Mend that line, or export the file anew.`;
  }
  const code = errorCode(error);
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
    return 'is neither UTF-8 nor UTF-16. Save it as "CSV UTF-8"; or, if it is from an older Excel: iconv -f windows-1252 -t utf-8 FILE > NEW.';
  return null;
}
