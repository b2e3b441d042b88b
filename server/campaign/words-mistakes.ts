import { isAlias, isMap, isNode, isScalar, isSeq, type Document } from 'yaml';
import * as z from 'zod/mini';

import { COLON_MISTAKE } from '#server/campaign/yaml-mistakes.ts';
import { nearestName } from '#server/platform/mistakes.ts';

export type Path = readonly PropertyKey[];

type Yaml = { readonly text: string; readonly document: Document };

export type FoundMistake = {
  /** The entry's offset in the file. */
  readonly offset: number;
  readonly message: string;
  readonly isInList?: boolean;
};

export const isGroup = (words: unknown): words is Record<string, unknown> =>
  typeof words === 'object' && words !== null && !Array.isArray(words);

/** Counts places in lists from 1: `benefits.cards 1, icon`. */
function describeEntry(path: Path): string {
  const parts = path.map((step, at) => {
    if (typeof step === 'number') return ` ${step + 1}`;
    return at === 0 ? String(step) : `${typeof path[at - 1] === 'number' ? ', ' : '.'}${String(step)}`;
  });
  return parts.length === 0 ? 'the file' : parts.join('');
}

/** @param known names that are valid in the same group */
export function unknownEntry({ document }: Yaml, path: Path, known: readonly string[]): FoundMistake {
  const name = nearestName(String(path.at(-1)), known);
  const advice =
    name !== null
      ? `Did you mean ${name}?`
      : known.length > 0
        ? `Valid entries are ${known.join(', ')}.`
        : 'Remove the entry.';
  return {
    offset: placeOf(document, path).name,
    message: `${describeEntry(path)}: unknown entry. ${advice}`,
  };
}

/** Lists the names that the schema allows at the path. */
export function entriesAt(schema: z.core.$ZodType, path: Path): string[] {
  const [step, ...rest] = path;
  if (schema instanceof z.ZodMiniOptional) return entriesAt(schema.def.innerType, path);
  if (schema instanceof z.ZodMiniUnion || schema instanceof z.ZodMiniDiscriminatedUnion)
    return [...new Set(schema.def.options.flatMap((option) => entriesAt(option, path)))];
  if (schema instanceof z.ZodMiniArray) return entriesAt(schema.def.element, rest);
  if (!(schema instanceof z.ZodMiniObject)) return [];
  const shape = schema.def.shape as Readonly<Record<string, z.core.$ZodType>>;
  const inner = shape[String(step)];
  return inner === undefined ? Object.keys(shape) : entriesAt(inner, rest);
}

/** @param words of all files together */
export function wrongEntry({ document, text }: Yaml, issue: z.core.$ZodIssue, words: unknown): FoundMistake {
  const { name, value } = placeOf(document, issue.path);
  const about: unknown = issue.code === 'custom' ? issue.params?.['about'] : undefined;
  const offset = typeof about === 'string' ? text.indexOf(about, value) : value;
  const node = document.getIn(issue.path, true);
  const found = issue.path.reduce<unknown>(
    (inner, step) => (inner as Record<PropertyKey, unknown> | null)?.[step],
    words,
  );
  const [, comment] = /^(?:[^#]*:\s+)?(#[\p{L}\d].*)/u.exec(text.slice(name).split('\n', 1)[0] ?? '') ?? [];
  const written = isNode(node) && node.range ? text.slice(node.range[0], node.range[1]) : '';
  const isUnquoted =
    isText(issue) && isSeq(document.getIn(issue.path.slice(0, -1), true)) && isTextWithColon(found);
  const message = isUnquoted
    ? `${COLON_MISTAKE}: ${inQuotes(written)}`
    : describeIssue(issue, found, { comment, written });
  return {
    offset: offset < 0 ? value : offset,
    message: `${describeEntry(issue.path)}: ${message}.`,
    isInList: typeof issue.path.at(-1) === 'number',
  };
}

const isText = (issue: z.core.$ZodIssue): boolean =>
  issue.code === 'invalid_type' && issue.expected === 'string';

/** `- Prompts: the five parts` in a list of texts is read as a group of entries. */
function isTextWithColon(found: unknown): boolean {
  const [value, ...others] = isGroup(found) ? Object.values(found) : [];
  return others.length === 0 && ['string', 'number', 'boolean'].includes(typeof value);
}

const inQuotes = (written: string): string =>
  `'${written.trim().replaceAll(/\n\s*/g, ' ').replaceAll("'", "''")}'`;

/** @param options comment: the text after an empty entry on the same line; written: the value as spelled in the file */
function describeIssue(
  issue: z.core.$ZodIssue,
  found: unknown,
  { comment, written }: { comment: string | undefined; written: string },
): string {
  if (found === undefined) return 'is missing';
  if (found === null)
    return comment === undefined
      ? 'must not be empty'
      : `is empty, because # begins a comment. Put the text in quotes: ${inQuotes(comment)}`;
  if (issue.code === 'invalid_value') {
    const names = issue.values.map(String);
    const name = typeof found === 'string' ? nearestName(found, names) : null;
    return `must be one of ${names.join(', ')}${name === null ? '' : ` (did you mean ${name}?)`}`;
  }
  if (issue.code !== 'invalid_type') return issue.message;
  const kind = Array.isArray(found) ? ', not a list' : isGroup(found) ? ', not a group of entries' : '';
  if (issue.expected === 'object') return `must be a group of entries${kind}`;
  if (issue.expected === 'array') return 'must be a list. Begin the line of each entry with "- "';
  if (issue.expected !== 'string') return issue.message;
  return `${issue.message}${kind === '' ? `. Put the text in quotes: ${inQuotes(written)}` : kind}`;
}

/** Returns the offsets of an entry's name and value, or those of the innermost group that exists. */
export function placeOf(document: Document, path: Path): { name: number; value: number } {
  const follow = (node: unknown): unknown => (isAlias(node) ? node.resolve(document) : node);
  let node = follow(document.contents);
  let name = startOf(node);
  let value = name;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (pair === undefined) return { name, value: name };
      name = startOf(pair.key);
      // A list, a group or an empty entry is located by its name.
      value = isScalar(pair.value) && pair.value.value !== null ? startOf(pair.value) : name;
      node = follow(pair.value);
    } else if (isSeq(node) && isNode(node.items[Number(step)])) {
      node = follow(node.items[Number(step)]);
      name = startOf(node);
      value = name;
    } else return { name, value: name };
  }
  return { name, value };
}

const startOf = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0);
