// A campaign with questions of its own, for tests that need no built site.
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { TEST_CAMPAIGN } from '#testing/built-site.ts';

/**
 * Makes a copy of the tests' campaign that asks more.
 * @param folder where it is made
 * @param form what stands in its form.yaml
 * @returns the folder of the campaign, for CAMPAIGN_FOLDER
 */
export function campaignAsking(folder: string, form: string): string {
  const campaign = path.join(folder, 'campaign');
  mkdirSync(campaign, { recursive: true });
  cpSync(TEST_CAMPAIGN, campaign, { recursive: true });
  writeFileSync(path.join(campaign, 'form.yaml'), form);
  return campaign;
}
