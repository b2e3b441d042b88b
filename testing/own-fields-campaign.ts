// The tests' campaign with questions of its own: one of each kind (own-fields/form.yaml).
import { cpSync } from 'node:fs';
import path from 'node:path';

import { TEST_CAMPAIGN } from '#testing/built-site.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
const FOLDER = path.join(PROJECT_FOLDER, 'dist', 'test-campaigns', 'own-fields');

/** @returns its folder, always the same: what was built of it stays */
export function ownFieldsCampaign(): string {
  for (const from of [TEST_CAMPAIGN, path.join(import.meta.dirname, 'own-fields')])
    cpSync(from, FOLDER, { recursive: true });
  return FOLDER;
}
