import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { TEST_CAMPAIGN } from '#testing/built-site.ts';

/** @returns the folder for CAMPAIGN_FOLDER */
export function campaignAsking(folder: string, form: string): string {
  const campaign = path.join(folder, 'campaign');
  mkdirSync(campaign, { recursive: true });
  cpSync(TEST_CAMPAIGN, campaign, { recursive: true });
  writeFileSync(path.join(campaign, 'form.yaml'), form);
  return campaign;
}
