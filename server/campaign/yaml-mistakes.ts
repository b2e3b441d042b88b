// Explains mistakes of YAML's syntax to people who do not program: the parser's errors, and accepted text with a probably unintended
// meaning. Mistakes in readable entries are explained in words-mistakes.ts.
import { visit, type Document, type Scalar } from 'yaml';

import { misindentedLine } from '#server/campaign/yaml-indentation.ts';

export type YamlMistake = { readonly at: number; readonly message: string };

type Place = {
  /** Of the parser's error. */
  readonly code: string;
  readonly line: string;
  /** The text from the error on. */
  readonly rest: string;
  /** Before the colon. */
  readonly name: string | undefined;
  /** After the colon or, without a name, after the hyphen. */
  readonly value: string;
};

type Kind = {
  readonly matches: (place: Place) => boolean;
  readonly message: string | ((place: Place) => string);
  /** Reported once per block, because the parser reports each line that follows from it. */
  readonly isOncePerBlock?: true;
};

const IN_QUOTES = 'Put the whole text in quotes';

const CURLY = /^[“”„‘’‚«»]/;

/** @param begin of the text that is not in quotes */
export const colonMessage = (begin: string): string =>
  CURLY.test(begin)
    ? `curly quotes do not count as quotes here. Put the whole text in straight quotes`
    : `a text must not contain a colon outside quotes. ${IN_QUOTES}`;

const beginMessage = (sign: string): string =>
  `a text must not begin with ${sign} outside quotes. ${IN_QUOTES}`;

const NOT_A_HYPHEN = 'an entry of a list begins with a hyphen and a space: "- "';

const NO_SPACE = 'a space is missing after the -';
const NOT_INDENTED = 'the line is not indented like the lines around it. Correct the spaces at its beginning';

/**
 * The first kind that matches explains the error. Kinds about the beginning of a line or a code precede kinds about a value, and
 * the last kind matches most codes. Other pairs whose order matters are marked.
 */
const KINDS: readonly Kind[] = [
  {
    // ⇥badge: New
    matches: ({ line }) => /^\s*\t/.test(line),
    message: 'the line is indented with a tab. Use spaces',
    isOncePerBlock: true,
  },
  {
    // badge: New (after two no-break spaces)
    matches: ({ line }) => /^ *[\u00A0\u2000-\u200B\u202F\u3000]/.test(line),
    message: 'the line begins with a character that only looks like a space. Type normal spaces',
    isOncePerBlock: true,
  },
  {
    // * Trusted (before the line that has no name)
    matches: ({ line }) => /^\s*\* /.test(line),
    message: NOT_A_HYPHEN,
  },
  {
    // publisher: Them (after publisher: Us)
    matches: ({ code }) => code === 'DUPLICATE_KEY',
    message: ({ rest }) => `${/^[^\s:]+/.exec(rest)?.[0] ?? 'this'} is here twice. Keep one of the two`,
  },
  {
    // ---
    matches: ({ code }) => code === 'MULTIPLE_DOCS',
    message: '--- would begin a second file. Remove the line',
  },
  {
    // publisher: "C:\Us"
    matches: ({ code }) => code === 'BAD_DQ_ESCAPE',
    message: String.raw`a \ within "…" must be written as \\. You can also put the text in '…'`,
  },
  {
    // -"Trusted"
    matches: ({ name, line }) => name === undefined && /^\s*-[^\s-]/.test(line),
    message: NO_SPACE,
  },
  {
    // publisher:Us
    matches: ({ name, line }) => name === undefined && /^\s*(?:- +)?[\w-]+:\S/.test(line),
    message: 'a space is missing after the colon',
  },
  {
    // and them (below publisher: Us)
    matches: ({ name, line, code }) =>
      name === undefined &&
      !/:|^\s*-/.test(line) &&
      (code === 'MULTILINE_IMPLICIT_KEY' || code === 'MISSING_CHAR'),
    message:
      'the line has no name with a colon. If it continues a text, indent the line further than the name of that text',
  },
  {
    // publisher: 'Don't stop: go on' (before the colon)
    matches: ({ value }) => value.startsWith("'"),
    message: `a ' within '…' ends the text. Write '' instead, or put the text in "…"`,
  },
  {
    // publisher: "Say "hi": now" (before the colon)
    matches: ({ value }) => value.startsWith('"'),
    message: `a " within "…" ends the text. Put the text in '…'`,
  },
  {
    // text: [unfinished (before the sign at the beginning)
    matches: ({ value }) => /^(?:\[|\{ ?\w+:)[^\]}]*$/.test(value),
    message: ({ value: [bracket] }) =>
      `the ${bracket} has no matching ${bracket === '[' ? ']' : '}'}, or a # is not in quotes`,
  },
  {
    // badge: [Plan: A] lanes (before the colon)
    matches: ({ value }) => /^(?:[[{*&!|>@%`]|\? )/.test(value) && !/^[|>][-+\d]*$/.test(value),
    message: ({ value: [first = ''] }) => beginMessage(first),
  },
  {
    // badge: - New: the guide (before the colon)
    matches: ({ value }) => value.startsWith('- '),
    message: `a list begins on the next line. If this is a text, put all of it in quotes`,
  },
  {
    // publisher: Us: the publisher
    matches: ({ value }) => value.includes(': ') || value.endsWith(':'),
    message: ({ value }) => colonMessage(value),
  },
  {
    // badge: New (indented by one space instead of two)
    matches: ({ code }) => /^(?:BAD_INDENT|BLOCK_AS_IMPLICIT_KEY|MULTILINE_IMPLICIT_KEY)$/.test(code),
    message: NOT_INDENTED,
    isOncePerBlock: true,
  },
];

/** Errors that a wrong indentation can cause, among other mistakes. */
const FROM_INDENTATION: ReadonlySet<string> = new Set([
  'BAD_INDENT',
  'BLOCK_AS_IMPLICIT_KEY',
  'MULTILINE_IMPLICIT_KEY',
  'UNEXPECTED_TOKEN',
  'MISSING_CHAR',
]);

/**
 * Finds all mistakes, but only the first on each line. A merge conflict, a character that only looks like a colon or a space, and
 * a hyphen without a space can cause all of the parser's errors, so then no other mistake is returned.
 */
export function yamlMistakes(document: Document, text: string): YamlMistake[] {
  const cause = document.errors.length > 0 ? causeOfAll(document, text) : null;
  if (cause !== null) return [refused(cause)];
  const unreadable = [...indentOrParserMistakes(document, text), ...unknownAliases(document)];
  const accepted = [
    ...parserMistakes(document, text, document.warnings),
    ...acceptedMistakes(document, text),
  ];
  const found = [
    ...unreadable.map(refused),
    ...accepted.map(({ at, message }) => ({ at, message: `${message}.` })),
  ];
  const lineStart = ({ at }: YamlMistake) => text.lastIndexOf('\n', at - 1);
  return found.filter(
    (mistake, index) => found.findIndex((other) => lineStart(other) === lineStart(mistake)) === index,
  );
}

const refused = ({ at, message }: YamlMistake): YamlMistake => ({
  at,
  message: `cannot be read: ${message}.`,
});

function causeOfAll(document: Document, text: string): YamlMistake | null {
  const merge = /^(?:<{7}|={7}|>{7})/m.exec(text);
  if (merge)
    return { at: merge.index, message: 'the file contains two versions from a merge. Keep one of them' };
  const lookalike = firstOutsideTexts(document, text.matchAll(LOOKALIKE));
  if (lookalike !== undefined)
    return {
      at: lookalike.index,
      message: `after ${lookalike[1] ?? ''} is a character that only looks like a colon or a space. Type a normal colon and space`,
    };
  const missingSpace = firstOutsideTexts(document, text.matchAll(HYPHEN_WITHOUT_SPACE));
  return missingSpace === undefined ? null : { at: missingSpace.index, message: NO_SPACE };
}

const LOOKALIKE = /^[ \t]*(?:- +)?([\w-]+)(?:[：﹕]|:[\u00A0\u2000-\u200B\u202F\u3000])/gm;
const HYPHEN_WITHOUT_SPACE = /(?<=^ *)-(?=[\p{L}\d])/gmu;

/** Returns the first match that is not within a text, such as a text of several lines. */
function firstOutsideTexts(
  document: Document,
  matches: Iterable<RegExpExecArray>,
): RegExpExecArray | undefined {
  let outside = [...matches];
  visit(document, {
    Scalar: (_key, { range }) => {
      const [start = 0, end = 0] = range ?? [];
      outside = outside.filter(({ index }) => index <= start || index >= end);
    },
  });
  return outside[0];
}

function indentOrParserMistakes(document: Document, text: string): YamlMistake[] {
  const mistakes = parserMistakes(document, text, document.errors);
  const misindented = document.errors.some(({ code }) => FROM_INDENTATION.has(code))
    ? misindentedLine(text)
    : null;
  if (misindented === null) return mistakes;
  // What the parser says of the entry before and of everything after usually follows from the indentation.
  return [
    ...mistakes.filter(({ at }) => at < misindented.previous),
    { at: misindented.at, message: NOT_INDENTED },
  ];
}

function parserMistakes(
  document: Document,
  text: string,
  reports: Document['errors'] | Document['warnings'],
): YamlMistake[] {
  const wronglyIndented = new Set<number>();
  let isExplained = false;
  return reports.flatMap(({ code, pos: [offset], message }) => {
    const quote = code === 'MISSING_CHAR' ? openQuoteBefore(document, offset) : null;
    if (quote !== null)
      return [
        { at: quote, message: 'the quotation that begins here does not end. Add the closing quotation mark' },
      ];
    const start = text.lastIndexOf('\n', offset - 1) + 1;
    const line = text.slice(start).split('\n', 1)[0] ?? '';
    const [, name, valueOfName = ''] = /^\s*(?:- +)?([\w-]+):(?: +(.*))?$/.exec(line) ?? [];
    const value = name === undefined ? (/^\s*- +(.*)$/.exec(line)?.[1] ?? '') : valueOfName;
    const place = { code, line, rest: text.slice(offset), name, value };
    const kind = KINDS.find(({ matches }) => matches(place));
    // The parser's own words usually describe what follows from an earlier mistake.
    if (kind === undefined) return isExplained ? [] : [{ at: offset, message: message.replace(/\.$/, '') }];
    isExplained = true;
    const said = typeof kind.message === 'string' ? kind.message : kind.message(place);
    if (kind.isOncePerBlock !== true) return [{ at: offset, message: said }];
    // An entry without indentation begins a block.
    const block = text.slice(0, start).split(/^\w/m).length;
    if (wronglyIndented.has(block)) return [];
    wronglyIndented.add(block);
    return [{ at: start, message: said }];
  });
}

function openQuoteBefore(document: Document, offset: number): number | null {
  let found: number | null = null;
  visit(document, {
    Scalar: (_key, { type, range }) => {
      if (type?.startsWith('QUOTE') && range && range[0] < offset && range[1] >= offset) found = range[0];
    },
  });
  return found;
}

/** The parser accepts a `*name` without an earlier `&name`, but reading its value would throw. */
function unknownAliases(document: Document): YamlMistake[] {
  const found: YamlMistake[] = [];
  visit(document, {
    Alias: (_key, alias) => {
      if (alias.resolve(document) === undefined)
        found.push({
          at: alias.range?.[0] ?? 0,
          message: `a text that begins with * must be in quotes (there is no earlier &${alias.source})`,
        });
    },
  });
  return found;
}

type AcceptedText = {
  readonly scalar: Scalar;
  readonly text: string;
  readonly start: number;
  readonly end: number;
};

/** Finds texts that the parser accepts, but with a meaning that is probably unintended. */
function acceptedMistakes(document: Document, text: string): YamlMistake[] {
  const found: (YamlMistake | null)[] = [];
  const aliases = new Set<string>();
  visit(document, { Alias: (_key, { source }) => void aliases.add(source) });
  visit(document, {
    Scalar: (_key, scalar) => {
      const [start = 0, end = text.length] = scalar.range ?? [];
      const accepted = { scalar, text, start, end };
      found.push(signMistake(accepted, aliases));
      if (scalar.type !== 'PLAIN') return;
      const hyphen = hyphenMistake(accepted);
      if (hyphen !== null) found.push(hyphen);
      else {
        if (document.errors.length === 0) found.push(listMistake(accepted));
        found.push(commentMistake(accepted));
      }
    },
  });
  return found.filter((mistake) => mistake !== null);
}

/** `&nbsp; Us`, `&us and them` or `! us` */
function signMistake(
  { scalar, text, start }: AcceptedText,
  aliases: ReadonlySet<string>,
): YamlMistake | null {
  if (scalar.anchor?.endsWith(';') === true)
    return {
      at: start,
      message: `&${scalar.anchor} is not replaced by a character here. Type the character itself`,
    };
  if (scalar.anchor !== undefined && !aliases.has(scalar.anchor))
    return { at: text.lastIndexOf('&', start - 1), message: beginMessage('&') };
  return scalar.tag === '!' ? { at: text.lastIndexOf('!', start - 1), message: beginMessage('!') } : null;
}

/** `– Trusted` */
const hyphenMistake = ({ text, start }: AcceptedText): YamlMistake | null =>
  /^[–—•·▪]\s/.test(text.slice(start)) ? { at: start, message: NOT_A_HYPHEN } : null;

/** A list that became part of the text before it: `-Trusted` or `- Trusted`, with `- by hundreds` in the next line */
function listMistake({ text, start, end }: AcceptedText): YamlMistake | null {
  const list = /\n[ \t]*- /.exec(text.slice(start, end));
  if (list === null) return null;
  if (/^-[\p{L}\d]/u.test(text.slice(start))) return { at: start, message: NO_SPACE };
  return {
    at: start + list.index + 1,
    message:
      'the line begins with "- ", but is indented further than the entry above and would become part of it. Correct the spaces at its beginning',
  };
}

/** `The #1 guide` */
function commentMistake({ scalar, text, end }: AcceptedText): YamlMistake | null {
  const [lost] = /^[ \t]+#[\p{L}\d][^\n]*/u.exec(text.slice(end)) ?? [];
  if (lost === undefined || typeof scalar.value !== 'string') return null;
  return {
    at: end,
    message: `"${lost.trim()}" would be left out, because # begins a comment. ${IN_QUOTES}`,
  };
}

/** A duplicate name does not prevent checking the rest. */
export const isUnreadable = (document: Document): boolean =>
  unknownAliases(document).length > 0 || document.errors.some(({ code }) => code !== 'DUPLICATE_KEY');
