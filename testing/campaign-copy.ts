import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

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
  const folder = mkdtempSync(path.join(os.tmpdir(), 'campaign-'));
  try {
    cpSync(TEST_CAMPAIGN, folder, { recursive: true });
    return test(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const withLastingCampaignCopy = (test: (folder: string) => Promise<void>): Promise<void> =>
  inFolder((folder) => test(copyCampaign(folder)));

export const called = (folder: string, sentences: readonly string[]): string[] =>
  sentences.map((sentence) => sentence.replace(folder, FOLDER_NAME));
