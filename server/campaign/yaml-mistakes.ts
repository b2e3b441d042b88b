// Explains mistakes in YAML's syntax to people who do not program: the parser's first error in a file, and accepted text that
// would lose a part. Mistakes in readable entries are explained in words-mistakes.ts.
import { isScalar, visit, type Document, type YAMLError } from 'yaml';

export type YamlMistake = { readonly offset: number; readonly message: string };

const IN_QUOTES = 'Put the whole text in quotes';

export const COLON_MISTAKE = `a text must not contain a colon outside straight quotes. ${IN_QUOTES}`;

const beginMessage = (sign: string): string =>
  `a text must not begin with ${sign} outside quotes. ${IN_QUOTES}`;

/** Anchors and aliases are not supported, because a text that begins with & or * is more likely. */
export function yamlMistakes(document: Document, text: string): YamlMistake[] {
  const isDuplicate = ({ code }: YAMLError) => code === 'DUPLICATE_KEY';
  // Further errors usually follow from the first one.
  const first = document.errors.find((error) => !isDuplicate(error));
  if (first !== undefined) {
    const offset = beginningOf(first, document, text);
    return [{ offset, message: `cannot be read: ${explain(text, offset)}.` }];
  }
  return [
    ...document.errors.filter(isDuplicate).map(({ pos: [offset] }) => ({
      offset,
      message: `cannot be read: ${/^[^\s:]+/.exec(text.slice(offset))?.[0] ?? 'this'} is here twice. Keep one of the two.`,
    })),
    ...aliasesIn(document).map((offset) => ({ offset, message: `cannot be read: ${beginMessage('*')}.` })),
    ...lostParts(document, text),
  ];
}

/** A duplicate name does not prevent checking the rest. */
export const isUnreadable = (document: Document): boolean =>
  aliasesIn(document).length > 0 || document.errors.some(({ code }) => code !== 'DUPLICATE_KEY');

/** Finds where the mistake begins, because the parser reports a later place. */
function beginningOf(error: YAMLError, document: Document, text: string): number {
  const {
    code,
    message,
    pos: [offset],
  } = error;
  if (code === 'MISSING_CHAR') return startOfQuotation(document, offset);
  if (message.startsWith('Flow ')) return startOfBrackets(document, text, offset);
  // A file that begins with a text, such as `title:Ours`, followed by a comment.
  return isScalar(document.contents) ? (document.contents.range?.[0] ?? offset) : offset;
}

/** The parser reports the end of the file if a quotation mark is missing. */
function startOfQuotation(document: Document, offset: number): number {
  let start = offset;
  visit(document, {
    Scalar: (_key, { type, range }) => {
      if (type?.startsWith('QUOTE') && range && range[0] < offset && range[1] >= offset) start = range[0];
    },
  });
  return start;
}

/** The parser reports the next line if the brackets of `{ light: #7a2e6b }` or `[one, two` do not end. */
function startOfBrackets(document: Document, text: string, offset: number): number {
  let start = offset;
  visit(document, {
    Collection: (_key, { flow, range }) => {
      if (flow === true && range && range[0] < offset) start = range[0];
    },
  });
  const [line = ''] = text.slice(start, offset).split('\n', 1);
  const comment = line.search(/(?<=\s)#[\p{L}\d]/u);
  return comment < 0 ? start : start + comment;
}

function explain(text: string, offset: number): string {
  const whole = text.slice(text.lastIndexOf('\n', offset - 1) + 1).split('\n', 1)[0] ?? '';
  // The parser may report a comment above the line that does not fit.
  const line = /^\s*#/.test(whole) ? '' : whole;
  const [, name, value = ''] = /^\s*(?:- +)?(?:([\w-]+):(?: +|$))?(?:- +)?(.*)$/.exec(line) ?? [];
  const [unquoted] = /^#[^,}\]\n]*/.exec(text.slice(offset)) ?? [];
  if (unquoted !== undefined && line !== '')
    return `# begins a comment. Put the text in quotes: '${unquoted.trim()}'`;
  if (/^\s*\t/.test(line)) return 'the line is indented with a tab. Use spaces';
  if (/^["']/.test(value))
    return `a text in quotes does not end with the same quotation mark, or contains another one. Put the text in '…' or "…", whichever it does not contain`;
  if (/^(?:[[{*&!|>@%`]|\? )/.test(value)) return beginMessage(value.charAt(0));
  if (name === undefined && /^\s*(?:-[^\s-]|(?:- +)?[\w-]+:\S)/.test(line))
    return 'a space is missing after the hyphen or the colon';
  if (value.includes(': ') || value.endsWith(':')) return COLON_MISTAKE;
  return 'the line does not fit the lines around it. Check the spaces at their beginnings, and the colon after the name of each entry';
}

function aliasesIn(document: Document): number[] {
  const found: number[] = [];
  visit(document, { Alias: (_key, { range }) => void found.push(range?.[0] ?? 0) });
  return found;
}

/** Finds texts that the parser would shorten: `&us and them`, `! us`, `The #1 guide`, or `- One` with `- Two` indented below. */
function lostParts(document: Document, text: string): YamlMistake[] {
  const found: YamlMistake[] = [];
  visit(document, {
    Scalar: (_key, { anchor, tag, type, value, range }) => {
      const [start, end] = range ?? [0, 0];
      const add = (offset: number, message: string) => found.push({ offset, message: `${message}.` });
      if (anchor !== undefined) add(text.lastIndexOf('&', start - 1), beginMessage('&'));
      else if (tag !== undefined) add(text.lastIndexOf('!', start - 1), beginMessage('!'));
      if (type !== 'PLAIN' || typeof value !== 'string') return;
      const list = /\n[ \t]*- /.exec(text.slice(start, end));
      if (list !== null)
        add(
          start + list.index + 1,
          'the line begins with "- ", but is indented further than the entry above and would become part of it. Correct the spaces at its beginning',
        );
      const [lost] = /^[ \t]+#[\p{L}\d][^\n]*/u.exec(text.slice(end)) ?? [];
      if (lost !== undefined)
        add(end, `"${lost.trim()}" would be left out, because # begins a comment. ${IN_QUOTES}`);
    },
  });
  return found;
}
