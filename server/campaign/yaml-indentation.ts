type Level = { readonly indent: number; readonly at: number };
type Entry = { readonly at: number; readonly canHoldEntries: boolean; readonly closed: readonly Level[] };

/** `name:`, `- name:` or `- text`. Other lines continue a text. */
const ENTRY =
  /^(?<spaces> *)(?=\S)(?<hyphens>(?:- +)*)(?:(?<name>[\w-]+|"[^"]+"|'[^']+'):(?: +(?<value>.*))?|(?<=- ).*|-)$/;
const TEXT_BELOW = /^[|>][-+\d]*(?: +#.*)?$/;
const EMPTY = /^(?:#.*)?$/;

/**
 * The parser often reports the line before or after.
 * @param text which the parser refused
 * @returns offset of the line whose indentation differs from the lines around it, and of the entry before; null if all lines fit
 */
export function misindentedLine(text: string): { readonly at: number; readonly previous: number } | null {
  const levels: Level[] = [{ indent: 0, at: 0 }];
  let previous: Entry = { at: 0, canHoldEntries: false, closed: [] };
  let beforePrevious = 0;
  let indentOfText: number | 'next line' | null = null;
  let next = 0;
  for (const line of text.split('\n')) {
    const at = next;
    next += line.length + 1;
    const indent = line.length - line.trimStart().length;
    const open = levels.at(-1)!;
    if (line.trim() === '') continue;
    if (indentOfText === 'next line') indentOfText = indent > open.indent ? indent : null;
    if (indentOfText !== null && indent >= indentOfText) continue;
    indentOfText = null;
    const entry = ENTRY.exec(line)?.groups;
    if (entry === undefined || line.trim().startsWith('#')) continue;
    const { hyphens = '', name, value = '' } = entry;

    const isPreviousAt = (level: Level) =>
      level.at === previous.at && indent % 2 === 0 && level.indent % 2 === 1;
    const closed = levels.splice(levels.findLastIndex((level) => level.indent <= indent) + 1);
    const level = levels.at(-1)!;
    const isDeeper = level.indent !== indent;
    if (isDeeper && closed[0] !== undefined)
      return isPreviousAt(closed[0])
        ? { at: previous.at, previous: beforePrevious }
        : { at, previous: previous.at };
    if (isDeeper && !previous.canHoldEntries)
      return isPreviousAt(level) || previous.closed.some((one) => one.indent === indent)
        ? { at: previous.at, previous: beforePrevious }
        : { at, previous: previous.at };
    if (isDeeper) levels.push({ indent, at });
    if (hyphens !== '' && name !== undefined) levels.push({ indent: indent + hyphens.length, at });
    if (TEXT_BELOW.test(value)) indentOfText = 'next line';
    beforePrevious = previous.at;
    previous = { at, canHoldEntries: name !== undefined && EMPTY.test(value), closed };
  }
  return null;
}
