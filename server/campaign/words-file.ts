import { LineCounter, parseDocument, type Document } from 'yaml';
import * as z from 'zod/mini';

import { inVariant, missingFile, displayPath, readText } from '#server/campaign/campaign-folder.ts';
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

/** Reads words from a file of the campaign, overlaid by the variant's file of the same name if there is one. */
export function readWords<Words>(
  folder: string,
  file: string,
  schema: z.ZodMiniType<Words>,
  variant: string | null = null,
): ReadWords<Words> {
  const base = readYaml(folder, file);
  if (base === null) return mistakesOf(missingFile(folder, file));
  if (base.type === 'mistakes') return base;
  const overlay = variant === null ? null : readYaml(folder, inVariant(variant, file));
  if (overlay?.type === 'mistakes') return overlay;

  const files = overlay === null ? [base] : [base, overlay];
  const mistakes = files.flatMap(({ mistakes: inYaml }) => inYaml);
  if (files.some(({ document }) => isUnreadable(document))) return mistakesOf(...mistakes);

  const baseWords: unknown = base.document.toJS();
  const overlayWords: unknown = overlay?.document.toJS();
  const merged = mergeWords(baseWords, overlayWords);
  const words = file === 'landing.yaml' ? onlyListedSections(merged, overlayWords) : merged;
  const result = z.safeParse(schema, words);
  if (result.success && mistakes.length === 0) return { type: 'words', words: result.data };
  const found = (result.error?.issues ?? []).flatMap((issue): (FoundMistake & { of: YamlFile })[] => {
    const fileOf = (path: Path) =>
      overlay !== null && isFromOverlay(path, baseWords, overlayWords) ? overlay : base;
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => {
        const path = [...issue.path, key];
        return { of: fileOf(path), ...unknownEntry(fileOf(path), path, entriesAt(schema, issue.path)) };
      });
    return [{ of: fileOf(issue.path), ...wrongEntry(fileOf(issue.path), issue, words) }];
  });
  const inOrder = found.toSorted(
    (one, other) => files.indexOf(one.of) - files.indexOf(other.of) || one.offset - other.offset,
  );
  return mistakesOf(
    ...mistakes,
    ...inOrder.map(({ of, offset, message, isInList = false }) => {
      const { line, column } = lineAt(of, offset);
      return { file: of.name, line, column: isInList ? column : undefined, message };
    }),
  );
}

type YamlFile = {
  readonly type: 'yaml';
  readonly name: string;
  readonly text: string;
  readonly document: Document;
  readonly lines: LineCounter;
  readonly mistakes: readonly Mistake[];
};

function readYaml(folder: string, file: string): YamlFile | Mistakes | null {
  const read = readText(folder, file);
  if (read?.type !== 'text') return read;
  const { text } = read;
  const name = displayPath(folder, file);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const mistakes = yamlMistakes(document, text)
    .toSorted((one, other) => one.offset - other.offset)
    .map(({ offset, message }) => ({ file: name, ...lineAt({ lines }, offset), message }));
  return { type: 'yaml', name, text, document, lines, mistakes };
}

function lineAt({ lines }: Pick<YamlFile, 'lines'>, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

/** Merges groups entry by entry; replaces lists and texts. An empty file changes nothing. */
function mergeWords(base: unknown, overlay: unknown): unknown {
  if (overlay === null || overlay === undefined) return base;
  if (!isGroup(base) || !isGroup(overlay)) return overlay;
  const changed = Object.entries(overlay).map(([name, words]) => [
    name,
    words === null ? null : mergeWords(base[name], words),
  ]);
  return { ...base, ...Object.fromEntries(changed) };
}

/** A variant that lists its sections inherits no others. */
function onlyListedSections(words: unknown, overlay: unknown): unknown {
  if (!isGroup(words) || !isGroup(overlay) || !Array.isArray(overlay['sections'])) return words;
  const listed: unknown[] = overlay['sections'];
  const unwanted: string[] = SECTIONS.filter(
    (name) => !listed.includes(name) && !Object.hasOwn(overlay, name),
  );
  // Its pictures are shown with the benefits.
  if (unwanted.includes('benefits')) unwanted.push('inside');
  return Object.fromEntries(Object.entries(words).filter(([name]) => !unwanted.includes(name)));
}

/** Returns true if a mistake at this path is to be corrected in the variant's file. */
function isFromOverlay(path: Path, base: unknown, overlay: unknown): boolean {
  let [below, above] = [base, overlay];
  if (above === null || above === undefined) return false;
  for (const step of path.map(String)) {
    if (!isGroup(above)) return true;
    if (!Object.hasOwn(above, step)) return !isGroup(below);
    above = above[step];
    below = isGroup(below) ? below[step] : undefined;
  }
  return path.length > 0 || !isGroup(overlay);
}

export function lineOfEntry(folder: string, file: string, path: Path): number | null {
  const yaml = readYaml(folder, file);
  if (yaml?.type !== 'yaml') return null;
  return yaml.document.hasIn(path) ? lineAt(yaml, placeOf(yaml.document, path).value).line : null;
}
