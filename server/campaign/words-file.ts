import { LineCounter, parseDocument, type Document } from 'yaml';
import * as z from 'zod/mini';

import { inVariant, missingFile, nameOf, readText } from '#server/campaign/campaign-folder.ts';
import {
  entriesAt,
  type FoundMistake,
  isGroup,
  type Path,
  placeOf,
  unknownEntry,
  wrongEntry,
} from '#server/campaign/words-mistakes.ts';
import { isUnreadable, yamlMistakes } from '#server/campaign/yaml-mistakes.ts';
import { type Mistake, type Mistakes, mistakesOf, describeMistake } from '#server/platform/mistakes.ts';
import { SECTIONS } from '#shared/campaign-schema.ts';

export type ReadWords<Words> = { readonly type: 'words'; readonly words: Words } | Mistakes;

export function wordsOrThrow<Words>(result: ReadWords<Words>): Words {
  if (result.type === 'words') return result.words;
  throw new Error(`The words are not valid:\n${result.mistakes.map(describeMistake).join('\n')}`);
}

export function readWords<Words>(
  folder: string,
  file: string,
  schema: z.ZodMiniType<Words>,
  variant: string | null = null,
): ReadWords<Words> {
  const base = readText(folder, file);
  if (base === null) return mistakesOf(missingFile(folder, file));
  if (base.type === 'mistakes') return base;
  const overlayFile = variant === null ? null : inVariant(variant, file);
  const overlay = overlayFile === null ? null : readText(folder, overlayFile);
  if (overlay?.type === 'mistakes') return overlay;

  const lower = parseYaml(nameOf(folder, file), base.text);
  const upper =
    overlayFile === null || overlay === null ? null : parseYaml(nameOf(folder, overlayFile), overlay.text);
  const files = upper === null ? [lower] : [lower, upper];
  const mistakes = files.flatMap(({ mistakes: inYaml }) => inYaml);
  if (files.some(({ document }) => isUnreadable(document))) return mistakesOf(...mistakes);

  const below: unknown = lower.document.toJS();
  const above: unknown = upper?.document.toJS();
  const words =
    file === 'landing.yaml' ? onlyListedSections(mergeWords(below, above), above) : mergeWords(below, above);
  const result = z.safeParse(schema, words);
  if (result.success && mistakes.length === 0) return { type: 'words', words: result.data };
  const wrong = (result.error?.issues ?? []).flatMap((issue): (FoundMistake & { of: YamlFile })[] => {
    const fileOf = (path: Path) => (upper !== null && isFromUpper(path, below, above) ? upper : lower);
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => {
        const path = [...issue.path, key];
        return { of: fileOf(path), ...unknownEntry(fileOf(path), path, entriesAt(schema, issue.path)) };
      });
    return [{ of: fileOf(issue.path), ...wrongEntry(fileOf(issue.path), issue, words) }];
  });
  return mistakesOf(
    ...mistakes,
    ...files.flatMap((one) =>
      wrong
        .filter(({ of }) => of === one)
        .toSorted((first, second) => first.at - second.at)
        .map(({ at, message, isInList = false }) => {
          const { line, column } = lineAt(one, at);
          return { file: one.name, line, column: isInList ? column : undefined, message };
        }),
    ),
  );
}

type YamlFile = {
  readonly name: string;
  readonly text: string;
  readonly document: Document;
  readonly lines: LineCounter;
  readonly mistakes: readonly Mistake[];
};

function parseYaml(name: string, text: string): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const mistakes = yamlMistakes(document, text)
    .toSorted((one, other) => one.at - other.at)
    .map(({ at, message }) => ({ file: name, ...lineAt({ lines }, at), message }));
  return { name, text, document, lines, mistakes };
}

function lineAt({ lines }: Pick<YamlFile, 'lines'>, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

/** Merges groups entry by entry; replaces lists and texts. An empty file changes nothing. */
function mergeWords(lower: unknown, upper: unknown): unknown {
  if (upper === null || upper === undefined) return lower;
  if (!isGroup(lower) || !isGroup(upper)) return upper;
  const changed = Object.entries(upper).map(([name, words]) => [
    name,
    words === null ? null : mergeWords(lower[name], words),
  ]);
  return { ...lower, ...Object.fromEntries(changed) };
}

function onlyListedSections(words: unknown, own: unknown): unknown {
  if (!isGroup(words) || !isGroup(own) || !Array.isArray(own['sections'])) return words;
  const listed: unknown[] = own['sections'];
  const unwanted: string[] = SECTIONS.filter((name) => !listed.includes(name) && !Object.hasOwn(own, name));
  if (unwanted.includes('benefits')) unwanted.push('inside');
  return Object.fromEntries(Object.entries(words).filter(([name]) => !unwanted.includes(name)));
}

function isFromUpper(path: Path, lower: unknown, upper: unknown): boolean {
  let [below, above] = [lower, upper];
  if (above === null || above === undefined) return false;
  for (const step of path.map(String)) {
    if (!isGroup(above)) return true;
    if (!Object.hasOwn(above, step)) return !isGroup(below);
    above = above[step];
    below = isGroup(below) ? below[step] : undefined;
  }
  return path.length > 0;
}

export function lineOfEntry(folder: string, file: string, path: Path): number | null {
  const read = readText(folder, file);
  if (read?.type !== 'text') return null;
  const yaml = parseYaml(file, read.text);
  return yaml.document.hasIn(path) ? lineAt(yaml, placeOf(yaml.document, path).value).line : null;
}
