// Builds the sites that tests start beside the one of campaign/, unless those that are there fit.
import { ensureBuilt, GERMAN_CAMPAIGN, TEST_CAMPAIGN } from '#testing/built-site.ts';
import { bareCampaign, rearrangedCampaign, reversedCampaign } from '#testing/other-campaigns.ts';
import { ownFieldsCampaign } from '#testing/own-fields-campaign.ts';
import { variantsCampaign } from '#testing/variants-campaign.ts';

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
