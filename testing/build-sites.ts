// Builds the sites that tests start beside the one of campaign/, unless those that are there fit.
import { ensureBuilt, GERMAN_CAMPAIGN, TEST_CAMPAIGN } from '#testing/built-site.ts';
import {
  bareCampaign,
  campaignUnder,
  ownFieldsCampaign,
  rearrangedCampaign,
  reversedCampaign,
  variantsCampaign,
} from '#testing/other-campaigns.ts';

for (const campaign of [
  TEST_CAMPAIGN,
  GERMAN_CAMPAIGN,
  rearrangedCampaign(),
  reversedCampaign(),
  bareCampaign(),
  ownFieldsCampaign(),
  variantsCampaign(),
])
  ensureBuilt(campaign);
for (const path of ['/guide', '/other']) ensureBuilt(campaignUnder(path), `https://example.com${path}`);
