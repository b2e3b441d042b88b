// The .eml files that are written while there is no mail account.
import type { Dirent } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';

import PostalMime from 'postal-mime';

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

/** Deletes the files of {@link emlFilesAbout}. @returns how many were deleted */
export async function deleteEmlFiles(folder: string, email: string): Promise<number> {
  const found = await emlFilesAbout(folder, email);
  for (const file of found) await rm(file, { force: true });
  return found.length;
}

const BETWEEN_WORDS = /[\s<>()[\]:;,"]+/;

const noneIfMissing = (error: NodeJS.ErrnoException): readonly Dirent[] => {
  if (error.code === 'ENOENT') return [];
  throw error;
};
