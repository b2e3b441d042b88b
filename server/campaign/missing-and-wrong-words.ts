// Reads and checks one file of words in YAML. Each slip is reported with its line, where an operator finds it in an editor.
import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
  type YAMLMap,
} from 'yaml';
import * as z from 'zod/mini';

import { nearestName } from '#server/platform/nearest-name.ts';

export type ParsedWords<Words> =
  | { readonly type: 'words'; readonly words: Words }
  | { readonly type: 'mistakes'; readonly mistakes: string[] };

type Path = readonly PropertyKey[];

/**
 * A slip and its place; offsets are counted in characters. The column is reported where the line alone does not say which word
 * is meant.
 */
type Slip = { readonly at: number; readonly sentence: string; readonly withColumn?: boolean };

/** A file of words: how the operator calls it, such as `campaign/site.yaml`, and what stands in it. */
type WordsFile = { readonly file: string; readonly text: string };

/** Words that are laid over those of another file. */
export type WordsAbove = WordsFile & {
  /** Takes out of the words below what they may no longer say. @param own what stands in the upper file alone */
  readonly prepare?: ((all: unknown, own: unknown) => unknown) | undefined;
};

/**
 * Reads words and checks them.
 * @param file how the operator calls it, such as `campaign/site.yaml`
 * @param text what stands in it
 * @param above words of a variant, laid over these: groups entry by entry; a list or a text takes the place of the other
 * @returns the words, or one sentence for each mistake: `campaign/site.yaml:12: titel: unknown entry; did you mean title?`
 */
export function parseWords<Words>(
  file: string,
  text: string,
  schema: z.ZodMiniType<Words>,
  above: WordsAbove | null = null,
): ParsedWords<Words> {
  const lower = readDocument({ file, text });
  const upper = above === null ? null : readDocument(above);
  const documents = upper === null ? [lower] : [lower, upper];
  const mistakes = documents.flatMap((one) => one.unreadable);
  if (documents.some(({ isBroken }) => isBroken)) return { type: 'mistakes', mistakes };

  const own: unknown = upper?.document.toJS();
  const below: unknown = lower.document.toJS();
  const merged = upper === null ? below : layOver(below, own);
  const content: unknown = above?.prepare?.(merged, own) ?? merged;
  const result = z.safeParse(schema, content);
  if (result.success && mistakes.length === 0) return { type: 'words', words: result.data };
  const entry = (path: Path) => (path.length === 0 ? 'the file' : path.join('.'));
  const slips = (result.error?.issues ?? []).flatMap((issue): (Slip & { of: ReadDocument })[] =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => {
          const path = [...issue.path, key];
          const of = writtenIn(path, lower, upper);
          const advice = suggest(key, entriesAt(schema, issue.path));
          return {
            of,
            at: place(of.document, path).name,
            sentence: `${entry(path)}: unknown entry; ${advice}`,
          };
        })
      : [slipOfIssue(content, issue, writtenIn(issue.path, lower, upper))],
  );
  return {
    type: 'mistakes',
    mistakes: [...mistakes, ...documents.flatMap((one) => one.tell(slips.filter(({ of }) => of === one)))],
  };

  function slipOfIssue(
    words: unknown,
    issue: z.core.$ZodIssue,
    of: ReadDocument,
  ): Slip & { of: ReadDocument } {
    const comment = commentAt(of.document, of.text, issue.path);
    const node = of.document.getIn(issue.path, true);
    // YAML reads 1.10 as 1.1, and 0123 as 123.
    const written = isScalar(node) ? node.source : undefined;
    return {
      of,
      at: placeOfIssue(of.document, of.text, issue),
      sentence: `${entry(issue.path)}: ${explain(words, issue, { comment, written })}.`,
      // One word of a list of words, of which several may stand in one line.
      withColumn:
        issue.code === 'invalid_value' || (issue.code === 'custom' && issue.params?.['isWord'] === true),
    };
  }
}

type ReadDocument = {
  readonly document: Document;
  readonly text: string;
  /** Whether what it says cannot be told at all. */
  readonly isBroken: boolean;
  readonly unreadable: readonly string[];
  readonly tell: (slips: readonly Slip[]) => string[];
};

function readDocument({ file, text }: WordsFile): ReadDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const tell = (slips: readonly Slip[]) =>
    slips
      .toSorted((one, other) => one.at - other.at)
      .map(({ at, sentence, withColumn = false }) => {
        const { line, col } = lines.linePos(at);
        return `${file}:${Math.max(1, line)}${withColumn ? `:${Math.max(1, col)}` : ''}: ${sentence}`;
      });
  return {
    document,
    text,
    // What stands there twice can be read all the same, and may hold other slips.
    isBroken: document.errors.some(({ code }) => code !== 'DUPLICATE_KEY') || hasBrokenAlias(document),
    unreadable: tell(unreadableIn(document, text).map((slip) => ({ ...slip, withColumn: true }))),
    tell,
  };
}

const isGroup = (words: unknown): words is Record<string, unknown> =>
  typeof words === 'object' && words !== null && !Array.isArray(words);

/** Groups entry by entry; a list or a text takes the place of the other. An empty file changes nothing. */
function layOver(lower: unknown, upper: unknown): unknown {
  if (upper === null || upper === undefined) return lower;
  if (!isGroup(lower) || !isGroup(upper)) return upper;
  const changed = Object.entries(upper).map(([name, words]) => [
    name,
    // An entry that was left empty is a slip, as everywhere.
    words === null ? null : layOver(lower[name], words),
  ]);
  return { ...lower, ...Object.fromEntries(changed) };
}

/** Which of two files an entry comes from, or, when it is missing, in which it is missed. */
function writtenIn(path: Path, lower: ReadDocument, upper: ReadDocument | null): ReadDocument {
  if (upper === null) return lower;
  let [below, above] = [lower, upper].map(({ document }) => follow(document, document.contents));
  for (const step of path) {
    // Whole in the upper file: the lower one has no part in it.
    if (!isMap(above)) return above === undefined ? lower : upper;
    const next = entryOf(upper.document, above, step);
    const nextBelow = isMap(below) ? entryOf(lower.document, below, step) : undefined;
    if (next === undefined) return isMap(below) ? lower : upper;
    above = next;
    below = nextBelow;
  }
  return path.length === 0 ? lower : upper;
}

const entryOf = (document: Document, group: YAMLMap, step: PropertyKey): Node | undefined =>
  follow(document, group.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))?.value);

/**
 * The line of an entry in a file that can be read.
 * @param text what stands in the file
 * @param path the names that lead to the entry
 */
export function lineOfEntry(text: string, path: Path): number {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  return Math.max(1, lines.linePos(place(document, path).value).line);
}

/** Whether a file that can be read has an entry. */
export const hasEntry = (text: string, path: Path): boolean => parseDocument(text).hasIn(path);

/** What YAML takes for something else than the writer meant, or for nothing. */
function unreadableIn(document: Document, text: string): Slip[] {
  const lineAt = (offset: number) => {
    const start = text.lastIndexOf('\n', offset - 1) + 1;
    return { start, line: text.slice(start).split('\n', 1)[0] ?? '' };
  };
  const merge = /^(?:<{7}|={7}|>{7})/m.exec(text);
  if (document.errors.length > 0 && merge)
    return [
      { at: merge.index, sentence: 'cannot be read: two versions stand here, and one has to be chosen.' },
    ];
  // A slip confuses what follows it on the same line.
  const seen = new Set<number>();
  const indented = new Set<number>();
  const slips: Slip[] = [];
  const add = (at: number, sentence: string) => {
    const { start } = lineAt(at);
    if (seen.has(start)) return;
    seen.add(start);
    slips.push({ at, sentence });
  };
  for (const { code, pos, message } of [...document.errors, ...document.warnings]) {
    const [offset] = pos;
    const open = code === 'MISSING_CHAR' ? openQuoteBefore(document, offset) : null;
    const at = open ?? offset;
    const { start, line } = lineAt(at);
    const reason =
      open === null ? syntaxSlip(code, line, text.slice(at)) : 'the quote that begins here has no end';
    const isIndent = reason !== null && INDENT_SLIPS.has(reason);
    // The rest of the block is out of line with it.
    const block = text.slice(0, start).split(/^\w/m).length;
    if (isIndent && indented.has(block)) continue;
    if (isIndent) indented.add(block);
    add(isIndent ? start : at, `cannot be read: ${reason ?? message.replace(/\.$/, '')}.`);
  }
  visit(document, {
    Alias: (_key, alias) => {
      if (alias.resolve(document) === undefined)
        add(
          startOf(alias),
          `cannot be read: a text that begins with * stands in quotes (there is no &${alias.source} before this).`,
        );
    },
    Scalar: (_key, scalar) => {
      if (scalar.anchor?.endsWith(';'))
        add(
          startOf(scalar),
          `cannot be read: &${scalar.anchor} is no character here; type the character itself.`,
        );
      const [lost = ''] = /^[ \t]+#[\p{L}\d][^\n]*/u.exec(text.slice(scalar.range?.[1] ?? text.length)) ?? [];
      if (scalar.type === 'PLAIN' && typeof scalar.value === 'string')
        if (lost !== '')
          add(
            scalar.range?.[1] ?? 0,
            `cannot be read: "${lost.trim()}" would be left out, as # begins a comment; put the whole text in quotes.`,
          );
    },
  });
  return slips;
}

const hasBrokenAlias = (document: Document): boolean => {
  let broken = false;
  visit(document, {
    Alias: (_key, alias) => {
      if (alias.resolve(document) === undefined) broken = true;
    },
  });
  return broken;
};

/** Where the quoted text begins that has not ended at an offset. */
function openQuoteBefore(document: Document, offset: number): number | null {
  let found: number | null = null;
  visit(document, {
    Scalar: (_key, { type, range }) => {
      if (type?.startsWith('QUOTE') && range && range[0] < offset && range[1] >= offset) found = range[0];
    },
  });
  return found;
}

const IN_QUOTES = 'put the whole text in quotes';
const WITH_TAB = 'the line is indented with a tab; use blanks';
const WITH_ODD_BLANK = 'the line begins with a character that looks like a blank and is none; type blanks';
const OUT_OF_LINE = 'the line is not indented like its neighbours';
const INDENT_SLIPS: ReadonlySet<string> = new Set([WITH_TAB, WITH_ODD_BLANK, OUT_OF_LINE]);

/**
 * Describes a slip without YAML's terms, for people who do not know them.
 * @param line the whole line of the slip
 * @param rest the text from the slip on
 * @returns a phrase; null when it is another slip
 */
function syntaxSlip(code: string, line: string, rest: string): string | null {
  if (/^\s*\t/.test(line)) return WITH_TAB;
  if (/^ *[\u00A0\u2000-\u200B\u202F\u3000]/.test(line)) return WITH_ODD_BLANK;
  if (code === 'DUPLICATE_KEY')
    return `${/^[^\s:]+/.exec(rest)?.[0] ?? 'this'} stands here twice; keep one of them`;
  if (code === 'MULTIPLE_DOCS') return '--- would begin a second file; take the line out';
  if (code === 'BAD_DQ_ESCAPE') return String.raw`within "…" a \ is written \\; or put the text in '…'`;
  const [, name, value = ''] = /^\s*(?:- +)?([\w-]+):(?: +(.*))?$/.exec(line) ?? [];
  if (name === undefined) {
    if (/^\s*-[^\s-]/.test(line)) return 'a blank is missing behind the -';
    if (/^\s*(?:- +)?[\w-]+:\S/.test(line)) return 'a blank is missing behind the colon';
    if (!line.includes(':') && code === 'MULTILINE_IMPLICIT_KEY')
      return 'the line has no name with a colon; is it the rest of a text, indent it further than its name';
  }
  const [first = ''] = value;
  if (first === "'") return `a ' within '…' ends the text; write '' for it, or put the text in "…"`;
  if (first === '"') return `a " within "…" ends the text; put the text in '…'`;
  if ('{[*&!|>@%`'.includes(first) && first !== '' && !/^[|>][-+\d]*$/.test(value))
    return first === '[' || (first === '{' && /^\{ ?\w+:/.test(value))
      ? `the ${first} has no ${first === '[' ? ']' : '}'} to it, or holds a # outside of quotes`
      : `a text that begins with ${first} must stand in quotes; ${IN_QUOTES}`;
  if (value.startsWith('- ')) return `a list begins on a line of its own; of a text, ${IN_QUOTES}`;
  if (value.includes(': ') || value.endsWith(':'))
    return `a text with a colon must stand in quotes; ${IN_QUOTES}`;
  if (code === 'BAD_INDENT' || code === 'BLOCK_AS_IMPLICIT_KEY' || code === 'MULTILINE_IMPLICIT_KEY')
    return OUT_OF_LINE;
  return null;
}

/** Where to look for a slip: at what a mistake is about within a longer text, if it says so. */
function placeOfIssue(document: Document, text: string, issue: z.core.$ZodIssue): number {
  const { value } = place(document, issue.path);
  const about: unknown = issue.code === 'custom' ? issue.params?.['about'] : undefined;
  const at = typeof about === 'string' ? text.indexOf(about, value) : -1;
  return at < 0 ? value : at;
}

/** What stands behind a # on the line of an entry that is empty. */
function commentAt(document: Document, text: string, path: Path): string | null {
  const line = text.slice(place(document, path).name).split('\n', 1)[0] ?? '';
  return /^[^#]*:\s+(#\w+)/.exec(line)?.[1] ?? null;
}

/**
 * Where an entry stands, or, when it is missing, what it should stand in.
 * @returns offsets of its name and of its value
 */
function place(document: Document, path: Path): { name: number; value: number } {
  let node = follow(document, document.contents);
  let name = startOf(node);
  let value = name;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (pair === undefined) return { name, value: name };
      name = startOf(pair.key);
      // Of a list or a group, the name is what says where it is; so it is of what was left empty.
      value = isScalar(pair.value) && pair.value.value !== null ? startOf(pair.value) : name;
      node = follow(document, pair.value);
    } else if (isSeq(node) && isNode(node.items[Number(step)])) {
      node = follow(document, node.items[Number(step)]);
      name = startOf(node);
      value = name;
    } else return { name, value: name };
  }
  return { name, value };
}

const startOf = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0);

/** What a node stands for. */
const follow = (document: Document, node: unknown): Node | undefined =>
  isAlias(node) ? node.resolve(document) : isNode(node) ? node : undefined;

/**
 * What is wrong, in the words of a person who edits YAML.
 * @param at comment: what stands behind it on its line. written: the text in the file
 */
function explain(
  content: unknown,
  issue: z.core.$ZodIssue,
  { comment, written }: { comment: string | null; written: string | undefined },
): string {
  const found = issue.path.reduce<unknown>(
    (value, step) => (value as Record<PropertyKey, unknown> | null)?.[step],
    content,
  );
  if (found === undefined) return 'is missing';
  if (found === null)
    return comment === null
      ? 'must not be empty'
      : `is empty, as # begins a comment; put it in quotes: '${comment}'`;
  if (issue.code === 'invalid_value') {
    const names = issue.values.map(String);
    const name = nearestName(JSON.stringify(found).replaceAll('"', ''), names);
    return `must be one of ${names.join(', ')}${name === null ? '' : ` (did you mean ${name}?)`}`;
  }
  if (issue.code === 'invalid_type' && issue.expected === 'object')
    return Array.isArray(found) ? 'must be a group of entries, not a list' : 'must be a group of entries';
  if (issue.code === 'invalid_type' && issue.expected === 'array')
    return 'must be a list: a line that begins with "- " for each entry';
  if (issue.code === 'invalid_type' && issue.expected === 'string') {
    if (Array.isArray(found)) return `${issue.message}, not a list`;
    if (typeof found === 'object') return `${issue.message}, not a group of entries`;
    return `${issue.message}; put it in quotes: '${written ?? JSON.stringify(found)}'`;
  }
  return issue.message;
}

function suggest(key: string, known: readonly string[]): string {
  if (known.length === 0) return 'nothing reads it.';
  const name = nearestName(key, known);
  return name !== null ? `did you mean ${name}?` : `the entries here are ${known.join(', ')}.`;
}

/** The names that a schema knows at a place. */
function entriesAt(schema: z.core.$ZodType, path: Path): string[] {
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
