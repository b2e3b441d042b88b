import type { Dirent } from 'node:fs';
import { readdir, readFile, unlink } from 'node:fs/promises';
import path from 'node:path';

import PostalMime from 'postal-mime';

import { errorCode } from '#server/platform/system-errors.ts';
import { normaliseEmail } from '#shared/lead.ts';

/**
 * Mail to an e-mail address, or naming it.
 * @param folder need not exist
 * @param email as stored
 */
export async function emlFilesAbout(folder: string, email: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(noneIfMissing)) {
    const { name } = entry;
    if (!name.endsWith('.eml') || !entry.isFile()) continue;
    const file = path.join(folder, name);
    const mail = await PostalMime.parse(await readFile(file));
    const recipients = (mail.to ?? []).map(({ address }) => address ?? '');
    const words = [mail.subject, mail.text, mail.html].join('\n').split(BETWEEN_WORDS);
    if ([...recipients, ...words].some((word) => normaliseEmail(word) === email)) found.push(file);
  }
  return found;
}

/** left: each with its error: `data/mail/1.eml (EACCES)` */
export type DeletedFiles = { readonly deleted: number; readonly left: readonly string[] };

export async function deleteEmlFiles(folder: string, email: string): Promise<DeletedFiles> {
  const found = await emlFilesAbout(folder, email);
  const left: string[] = [];
  for (const file of found)
    // Unlike rm, unlink doesn't mistake an undeletable file for a folder.
    await unlink(file).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT') left.push(`${file} (${errorCode(error)})`);
    });
  return { deleted: found.length - left.length, left };
}

const BETWEEN_WORDS = /[\s<>()[\]:;,"]+/;

const noneIfMissing = (error: NodeJS.ErrnoException): readonly Dirent[] => {
  if (error.code === 'ENOENT') return [];
  throw error;
};
