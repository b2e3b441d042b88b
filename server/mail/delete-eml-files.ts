// The .eml files that are written while there is no mail account.
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';

import PostalMime from 'postal-mime';

import { normaliseEmail } from '#shared/lead.ts';

/**
 * Deletes the files whose mail goes to an address or names it, as the mail about a new lead does.
 * @param folder need not exist
 * @param email as it is stored
 * @returns how many were deleted
 */
export async function deleteEmlFiles(folder: string, email: string): Promise<number> {
  let deleted = 0;
  for (const name of await readdir(folder).catch(noneIfMissing)) {
    if (!name.endsWith('.eml')) continue;
    const file = path.join(folder, name);
    const mail = await PostalMime.parse(await readFile(file));
    const recipients = (mail.to ?? []).map(({ address }) => address ?? '');
    const words = [mail.subject, mail.text, mail.html].join('\n').split(BETWEEN_WORDS);
    if (![...recipients, ...words].some((word) => normaliseEmail(word) === email)) continue;
    await rm(file, { force: true });
    deleted += 1;
  }
  return deleted;
}

const BETWEEN_WORDS = /[\s<>()[\]:;,"]+/;

const noneIfMissing = (error: NodeJS.ErrnoException): readonly string[] => {
  if (error.code === 'ENOENT') return [];
  throw error;
};
