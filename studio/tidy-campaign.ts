// Moves the campaign's unused files to its folder unused/, after asking. Nothing is deleted.
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';

import { UNUSED } from '#server/campaign/campaign-folder.ts';
import { unusedFiles } from '#server/campaign/campaign-warnings.ts';
import { endWithSentence } from '#server/platform/system-errors.ts';
import { readCampaignFolder, readSettings } from '#server/settings/env-file.ts';

endWithSentence();
const campaign = readCampaignFolder();
const settings = readSettings();
const unused = unusedFiles(campaign);

function end(sentence: string, exitCode: number): never {
  (exitCode === 0 ? process.stdout : process.stderr).write(`${sentence}\n`);
  process.exit(exitCode);
}

if (unused === null)
  end(
    'Nothing was moved: the words contain mistakes, so a needed file may look unused. Run "npm run build" to see them.',
    1,
  );
if (settings.type === 'mistakes')
  end(`Nothing was moved, because a setting may name a file:\n${settings.mistakes.join('\n')}`, 1);

/** Such as the key for DKIM, or the database. */
const inSettings = JSON.stringify(settings.config);
const files = unused.filter((file) => !inSettings.includes(path.join(campaign, file)));
if (files.length === 0) end('Every file of the campaign is in use.', 0);
process.stdout.write(`Unused files in ${campaign}:\n${files.map((file) => `  ${file}\n`).join('')}`);

async function isAgreed(): Promise<boolean> {
  if (process.argv.includes('--yes')) return true;
  if (!process.stdin.isTTY) end('Nothing was moved. To move these files, run "npm run tidy -- --yes".', 1);
  using terminal = createInterface({ input: process.stdin, output: process.stdout });
  return /^y(?:es)?$/i.test((await terminal.question(`Move them to ${UNUSED}/? [y/N] `)).trim());
}

if (!(await isAgreed())) end('Nothing was moved.', 0);

/** Never overwrites a file in unused/. */
function freeName(file: string): string {
  const { dir, name, ext } = path.parse(path.join(campaign, UNUSED, file));
  let place = path.join(dir, `${name}${ext}`);
  for (let count = 2; existsSync(place); count += 1) place = path.join(dir, `${name} (${count})${ext}`);
  return place;
}

for (const file of files) {
  const target = freeName(file);
  mkdirSync(path.dirname(target), { recursive: true });
  renameSync(path.join(campaign, file), target);
}
end(
  `Moved ${files.length} ${files.length === 1 ? 'file' : 'files'} to ${path.join(campaign, UNUSED)}. Delete that folder once you no longer need them.`,
  0,
);
