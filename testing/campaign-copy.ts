import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { TEST_CAMPAIGN } from '#testing/built-site.ts';

export const FOLDER_NAME = 'campaign';

export function withCampaignCopy<Result>(test: (folder: string) => Result): Result {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'campaign-'));
  try {
    cpSync(TEST_CAMPAIGN, folder, { recursive: true });
    return test(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export async function withLastingCampaignCopy(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'campaign-'));
  try {
    cpSync(TEST_CAMPAIGN, folder, { recursive: true });
    await test(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const called = (folder: string, sentences: readonly string[]): string[] =>
  sentences.map((sentence) => sentence.replace(folder, FOLDER_NAME));
