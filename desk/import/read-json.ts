// Reads people from our JSON Lines, and from lists of mail and CRM programs' APIs.
import { headingKey, IMPORT_HEADINGS, isPersonHeading, keysOf } from '#shared/import-headings.ts';

type Row = { readonly line: number; readonly cells: readonly string[] };
type Json = string | number | boolean | null | readonly Json[] | JsonObject;
type JsonObject = { readonly [name: string]: Json };

/** Its message continues the file's name. */
export class UnreadableJson extends Error {}

/** Returns false for CSV, even if its first heading is in brackets. */
export const isJson = (head: string): boolean => /^\uFEFF?\s*(?:\{\s*["}]|\[\s*[{\]])/.test(head);

/**
 * Yields the names first, as a row of headings, because every person may have others.
 * @param read reads the file from the beginning; called twice
 */
export async function* readJson(read: () => AsyncIterable<string>): AsyncGenerator<Row, void, void> {
  const headings = new Set<string>();
  for await (const { person } of peopleIn(read())) for (const [name] of flatten(person)) headings.add(name);
  if (headings.size === 0) return;
  yield { line: 0, cells: [...headings] };
  for await (const { line, person } of peopleIn(read())) {
    const values = new Map<string, string>();
    for (const [name, value] of flatten(person)) {
      // `properties` may repeat a name, empty or with another status.
      const known = values.get(name) ?? '';
      if (known === '') values.set(name, value);
      else if (value !== '' && value !== known && !isPersonHeading(name))
        values.set(name, `${known};${value}`);
    }
    yield { line, cells: Array.from(headings, (name) => values.get(name) ?? '') };
  }
}

/** Reads a person per line if the first line is complete, otherwise one document. */
async function* peopleIn(
  texts: AsyncIterable<string>,
): AsyncGenerator<{ readonly line: number; readonly person: JsonObject }, void, void> {
  let [line, document] = [0, ''];
  let isByLine: boolean | undefined;
  for await (const text of linesIn(texts)) {
    line += 1;
    if (text.trim() === '') continue;
    isByLine ??= isComplete(text);
    if (isByLine) {
      const people = listedIn(parse(text, ` in line ${line}`));
      yield* people.map((person, at) => ({ line: people.length === 1 ? line : at + 1, person }));
    } else document += `${text}\n`;
  }
  if (isByLine === false)
    yield* listedIn(parse(document, '')).map((person, at) => ({ line: at + 1, person }));
}

async function* linesIn(texts: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  let rest = '';
  for await (const text of texts) {
    const [end = '', ...lines] = text.split('\n');
    rest += end;
    for (const line of lines) {
      yield rest;
      rest = line;
    }
  }
  yield rest;
}

function isComplete(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function parse(text: string, line: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new UnreadableJson(`is not valid JSON${line}. Export the file again.`);
  }
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const EMAIL = keysOf(IMPORT_HEADINGS.email);

const hasAddress = (value: JsonObject): boolean =>
  flatten(value).some(([name]) => EMAIL.has(headingKey(name)));

/** Keeps a bare value, which may be an address, so that its line is reported as bad. */
const asPerson = (value: Json): JsonObject => (isObject(value) ? value : { '': value });

/** Finds the list of people in an API's response, such as `{"results": […]}`. */
function listedIn(value: Json): readonly JsonObject[] {
  if (Array.isArray(value)) return value.map(asPerson);
  if (!isObject(value) || hasAddress(value)) return [asPerson(value)];
  const lists = listsIn(value);
  const [people, ...others] = lists.filter((list) => list.some(hasAddress));
  if (others.length > 0)
    throw new UnreadableJson('contains several lists of people. Save those who agreed as a separate file.');
  return people ?? lists[0] ?? [value];
}

const listsIn = (value: JsonObject): readonly (readonly JsonObject[])[] =>
  Object.values(value).flatMap((part: Json) => {
    if (Array.isArray(part)) return part.some(isObject) ? [part.map(asPerson)] : [];
    if (!isObject(part)) return [];
    return hasAddress(part) ? [[part]] : listsIn(part);
  });

/** The names in them are headings as they are: fields of HubSpot, Brevo and Kit. */
const CONTAINERS: ReadonlySet<string> = new Set(['properties', 'attributes', 'fields']);

/** `{"consent": {"given_at": …}}` becomes `consent.given_at`, and an answer loses its label. */
function flatten(record: JsonObject | readonly Json[], path = ''): [name: string, value: string][] {
  return Object.entries(record).flatMap(([name, value]: [string, Json]) => {
    const heading = path === '' ? name : `${path}.${name}`;
    const content = isObject(value) && value['answer'] !== undefined ? value['answer'] : value;
    if (typeof content !== 'object' || content === null) return [[heading, textOf(content)]];
    if (Array.isArray(content) && content.every((part) => typeof part !== 'object'))
      return [[heading, content.map(textOf).join(';')]];
    return flatten(content as JsonObject, CONTAINERS.has(heading) ? '' : heading);
  });
}

const textOf = (value: Json): string =>
  value === null ? '' : (typeof value === 'object' ? JSON.stringify(value) : String(value)).trim();
