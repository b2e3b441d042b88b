import { cpSync, mkdirSync, mkdtempDisposableSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { campaignMistakes } from '#server/campaign/campaign.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { inFolder } from '#testing/folder.ts';

export const FOLDER_NAME = 'campaign';

/** @returns the folder for CAMPAIGN_FOLDER */
export function copyCampaign(folder: string, form = ''): string {
  const campaign = path.join(folder, FOLDER_NAME);
  mkdirSync(campaign, { recursive: true });
  cpSync(TEST_CAMPAIGN, campaign, { recursive: true });
  if (form !== '') writeFileSync(path.join(campaign, 'form.yaml'), form);
  return campaign;
}

/** For work that does not wait. */
export function withCampaignCopy<Result>(test: (folder: string) => Result): Result {
  using folder = mkdtempDisposableSync(path.join(os.tmpdir(), 'campaign-'));
  cpSync(TEST_CAMPAIGN, folder.path, { recursive: true });
  return test(folder.path);
}

export const withLastingCampaignCopy = <Result>(test: (folder: string) => Promise<Result>): Promise<Result> =>
  inFolder((folder) => test(copyCampaign(folder)));

/** The text of each file, a function that changes it, or null to remove the file or folder. */
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

/** For work that does not wait. */
export const withChangedCampaign = <Result>(changes: Changes, test: (folder: string) => Result): Result =>
  withCampaignCopy((folder) => {
    changeFiles(folder, changes);
    return test(folder);
  });

export const mistakesWith = (changes: Changes): string[] =>
  withChangedCampaign(changes, (folder) => called(folder, campaignMistakes(folder)));

export const called = (folder: string, sentences: readonly string[]): string[] =>
  sentences.map((sentence) => sentence.replace(folder, FOLDER_NAME));
