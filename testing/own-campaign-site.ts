import { rmSync } from 'node:fs';

import { distFolder } from '#server/http/releases.ts';
import { PROJECT_FOLDER } from '#server/platform/files.ts';
import { withLastingCampaignCopy } from '#testing/campaign-copy.ts';
import { startSite, type Site } from '#testing/start-site.ts';

export async function withOwnCampaign(
  change: (folder: string) => void,
  test: (site: Site) => Promise<void>,
): Promise<void> {
  await withLastingCampaignCopy(async (campaign) => {
    change(campaign);
    try {
      await using site = await startSite({ campaign });
      await test(site);
    } finally {
      rmSync(distFolder(PROJECT_FOLDER, campaign), { recursive: true, force: true });
    }
  });
}
