import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { errorCode } from '#server/platform/system-errors.ts';
import { mistakesOf, type Mistake, type Mistakes } from '#server/platform/mistakes.ts';
import { PROJECT_FOLDER } from '#server/platform/files.ts';

/** A path relative to the project, or absolute if the campaign is elsewhere. */
export function nameOf(folder: string, file: string): string {
  const fromProject = path.relative(PROJECT_FOLDER, folder);
  return path.join(fromProject.startsWith('..') ? folder : fromProject, file);
}

/**
 * Accepts any line ends and a byte order mark.
 * @param folder the campaign folder
 * @param file its path within that folder
 * @returns lines that end with \n; null if the file is missing
 */
export function readText(folder: string, file: string): { type: 'text'; text: string } | Mistakes | null {
  const name = nameOf(folder, file);
  let content: Buffer;
  try {
    content = readFileSync(path.join(folder, file));
  } catch (error) {
    const code = errorCode(error);
    if (code === null) throw error;
    if (code === 'ENOENT') return null;
    return mistakesOf({
      file: name,
      message: `cannot be read (${code}); it must be a file that this user may read.`,
    });
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
    return { type: 'text', text: text.replaceAll(/\r\n?/g, '\n') };
  } catch {
    const { line, character } = firstForeignCharacter(content);
    const message = `is not written in UTF-8${character}; save the file as UTF-8 in your editor.`;
    return mistakesOf({ file: name, line, message });
  }
}

function firstForeignCharacter(content: Buffer): { line: number; character: string } {
  if (content[0] === 0xff || content[0] === 0xfe) return { line: 1, character: ' but in UTF-16' };
  const lines = content.toString('latin1').split('\n');
  const at = lines.findIndex((line) => Buffer.from(line, 'latin1').toString('utf8').includes('\uFFFD'));
  const bytes = Buffer.from(lines[at] ?? '', 'latin1');
  const before = bytes.toString('utf8').split('\uFFFD', 1)[0] ?? '';
  const byte = bytes.subarray(Buffer.byteLength(before), Buffer.byteLength(before) + 1);
  return { line: at + 1, character: ` (at "${new TextDecoder('windows-1252').decode(byte)}")` };
}

export function missingFile(folder: string, file: string): Mistake {
  const plain = (name: string) => path.parse(name.toLowerCase()).name;
  const wanted = path.basename(file);
  const alike = namesIn(path.join(folder, path.dirname(file))).filter(
    (name) => plain(name) === plain(wanted),
  );
  const near = alike.find((name) => name.toLowerCase() === wanted.toLowerCase()) ?? alike[0];
  const cure =
    near === undefined
      ? 'put it back, or take it from examples/ of the project'
      : `there is ${near}: give it exactly this name`;
  return { file: nameOf(folder, file), message: `is missing; ${cure}.` };
}

/** Sorted; empty if the folder is missing. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}
