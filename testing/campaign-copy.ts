import { cpSync, mkdirSync, mkdtempDisposableSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { campaignMistakes } from '#server/campaign/campaign.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { inFolder } from '#testing/folder.ts';

export const FOLDER_NAME = 'campaign';

/** For each file its new content, a function that changes its text, or null to remove the file or folder. */
export type Changes = Readonly<Record<string, string | Buffer | null | ((text: string) => string)>>;

export const adding = (lines: string) => (text: string) => `${text}\n${lines}`;

export function changeFiles(folder: string, changes: Changes): void {
  for (const [file, change] of Object.entries(changes)) {
    const place = path.join(folder, file);
    mkdirSync(path.dirname(place), { recursive: true });
    if (change === null) rmSync(place, { recursive: true });
    else writeFileSync(place, typeof change === 'function' ? change(readFileSync(place, 'utf8')) : change);
  }
}

/** @returns the folder for CAMPAIGN_FOLDER */
export function copyCampaign(folder: string, changes: Changes = {}): string {
  const campaign = path.join(folder, FOLDER_NAME);
  cpSync(TEST_CAMPAIGN, campaign, { recursive: true });
  changeFiles(campaign, changes);
  return campaign;
}

export const withLastingCampaignCopy = (test: (folder: string) => Promise<void>): Promise<void> =>
  inFolder((folder) => test(copyCampaign(folder)));

/** Only for synchronous tests. */
export function withChangedCampaign<Result>(changes: Changes, test: (folder: string) => Result): Result {
  using folder = mkdtempDisposableSync(path.join(os.tmpdir(), 'campaign-'));
  return test(copyCampaign(folder.path, changes));
}

/** Only for synchronous tests. */
export const withCampaignCopy = (test: (folder: string) => void): void => withChangedCampaign({}, test);

export const mistakesWith = (changes: Changes): string[] =>
  withChangedCampaign(changes, (folder) => withFolderName(folder, campaignMistakes(folder)));

export const withFolderName = (folder: string, sentences: readonly string[]): string[] =>
  sentences.map((sentence) => sentence.replace(folder, FOLDER_NAME));
