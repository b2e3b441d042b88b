// The tests' campaign with a second variant of its page (variants/b): another headline, other sections, and other words of form and consent.
import { cpSync } from 'node:fs';
import path from 'node:path';

import { TEST_CAMPAIGN } from '#testing/built-site.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
const FOLDER = path.join(PROJECT_FOLDER, 'dist', 'test-campaigns', 'variants');

/** @returns its folder, always the same: what was built of it stays */
export function variantsCampaign(): string {
  cpSync(TEST_CAMPAIGN, FOLDER, { recursive: true });
  cpSync(path.join(import.meta.dirname, 'variants'), path.join(FOLDER, 'variants'), { recursive: true });
  return FOLDER;
}
