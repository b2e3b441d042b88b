// One file of words in YAML: read, checked, and each slip told by its line, as an operator finds it in an editor.
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
} from 'yaml';
import * as z from 'zod/mini';

import { nearestName } from '#server/nearest-name.ts';

export type ParsedWords<Words> =
  | { readonly type: 'words'; readonly words: Words }
  | { readonly type: 'complaints'; readonly complaints: string[] };

type Path = readonly PropertyKey[];

/**
 * Reads words and checks them.
 * @param file how the operator calls it, such as `campaign/site.yaml`
 * @param text what stands in it
 * @returns the words, or one sentence for each complaint: `campaign/site.yaml:12: titel: unknown entry; did you mean title?`
 */
export function parseWords<Words>(
  file: string,
  text: string,
  schema: z.ZodMiniType<Words>,
): ParsedWords<Words> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const complaint = (offset: number, sentence: string) =>
    `${file}:${Math.max(1, lines.linePos(offset).line)}: ${sentence}`;
  const unreadable = document.errors.map(({ pos, message }) =>
    complaint(pos[0], `cannot be read: ${message.replace(/\.?$/, '.')}`),
  );
  visit(document, {
    Alias: (_key, alias) => {
      if (alias.resolve(document) === undefined)
        unreadable.push(
          complaint(startOf(alias), `cannot be read: there is no &${alias.source} before this.`),
        );
    },
  });
  if (unreadable.length > 0) return { type: 'complaints', complaints: unreadable };

  const content: unknown = document.toJS();
  const result = z.safeParse(schema, content);
  if (result.success) return { type: 'words', words: result.data };
  const entry = (path: Path) => (path.length === 0 ? 'the file' : path.join('.'));
  const complaints = result.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => {
          const path = [...issue.path, key];
          const advice = suggest(key, entriesAt(schema, issue.path));
          return { at: place(document, path).name, sentence: `${entry(path)}: unknown entry; ${advice}` };
        })
      : [
          {
            at: place(document, issue.path).value,
            sentence: `${entry(issue.path)}: ${explain(content, issue)}.`,
          },
        ],
  );
  return {
    type: 'complaints',
    complaints: complaints
      .toSorted((one, other) => one.at - other.at)
      .map(({ at, sentence }) => complaint(at, sentence)),
  };
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

/** What is wrong, in the words of a person who edits YAML. */
function explain(content: unknown, issue: z.core.$ZodIssue): string {
  const found = issue.path.reduce<unknown>(
    (value, step) => (value as Record<PropertyKey, unknown> | null)?.[step],
    content,
  );
  if (found === undefined) return 'is missing';
  if (found === null) return 'must not be empty';
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`;
  if (issue.code === 'invalid_type' && issue.expected === 'object') return 'must be a group of entries';
  if (issue.code === 'invalid_type' && issue.expected === 'array') return 'must be a list';
  return issue.message;
}

function suggest(key: string, known: readonly string[]): string {
  if (known.length === 0) return 'nothing reads it.';
  const { name, slips } = nearestName(key, known);
  return slips <= 2 && slips < key.length / 2
    ? `did you mean ${name}?`
    : `the entries here are ${known.join(', ')}.`;
}

/** The names that a schema knows at a place. */
function entriesAt(schema: z.core.$ZodType, path: Path): string[] {
  const [step, ...rest] = path;
  if (schema instanceof z.ZodMiniOptional) return entriesAt(schema.def.innerType, path);
  if (schema instanceof z.ZodMiniUnion)
    return schema.def.options.flatMap((option) => entriesAt(option, path));
  if (schema instanceof z.ZodMiniArray) return entriesAt(schema.def.element, rest);
  if (!(schema instanceof z.ZodMiniObject)) return [];
  const shape = schema.def.shape as Readonly<Record<string, z.core.$ZodType>>;
  const inner = shape[String(step)];
  return inner === undefined ? Object.keys(shape) : entriesAt(inner, rest);
}
