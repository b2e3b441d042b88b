// The .eml files that are written while there is no mail account.
import type { Dirent } from 'node:fs';
import { readdir, readFile, unlink } from 'node:fs/promises';
import path from 'node:path';

import PostalMime from 'postal-mime';

import { errorCode } from '#server/platform/error-code.ts';
import { normaliseEmail } from '#shared/lead.ts';

/**
 * Finds the files whose mail goes to an address or names it, as the mail about a new lead does.
 * @param folder need not exist
 * @param email as it is stored
 * @returns their paths
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

/** What became of files that were to be deleted. @property left why each of the others was not: `data/mail/1.eml (EACCES)` */
export type DeletedFiles = { readonly deleted: number; readonly left: readonly string[] };

/** Deletes the files of {@link emlFilesAbout}, as many of them as it can. */
export async function deleteEmlFiles(folder: string, email: string): Promise<DeletedFiles> {
  const found = await emlFilesAbout(folder, email);
  const left: string[] = [];
  for (const file of found)
    // Not with rm, which takes a file that it may not delete for a folder.
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
