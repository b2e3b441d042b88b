// Writes pictures, film, icons and font where they belong, and prints a line for each.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

const repository = path.resolve(import.meta.dirname, '..');
const campaignFolder = path.join(repository, 'campaign');
const publicFolder = path.join(repository, 'web/public');

/** Where a file belongs: media/ is the campaign's, the rest (icons, font) the page's. */
export const placeOf = (name: string): string =>
  path.join(name.startsWith('media/') ? campaignFolder : publicFolder, name);

/** Writes a file where it belongs and reports its size; a file above its limit stops the script. */
export async function publish(name: string, bytes: Buffer, limit = Number.POSITIVE_INFINITY): Promise<void> {
  const target = placeOf(name);
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(target, bytes);
  reportSize(name, bytes.length, limit);
}

export function reportSize(name: string, size: number, limit = Number.POSITIVE_INFINITY): void {
  process.stdout.write(`${size.toString().padStart(9)}  ${name}\n`);
  if (size > limit) throw new Error(`${name} has ${size} bytes; its limit is ${limit}.`);
}
