import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { distFolder } from '#server/http/releases.ts';
import { PROJECT_FOLDER } from '#server/platform/files.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { startSite, type Site } from '#testing/start-site.ts';

export async function withOwnCampaign(
  change: (folder: string) => void,
  test: (site: Site) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'campaign-'));
  let site: Site | null = null;
  try {
    cpSync(TEST_CAMPAIGN, folder, { recursive: true });
    change(folder);
    site = await startSite({ campaign: folder });
    await test(site);
  } finally {
    await site?.close();
    rmSync(folder, { recursive: true });
    rmSync(distFolder(PROJECT_FOLDER, folder), { recursive: true, force: true });
  }
}
