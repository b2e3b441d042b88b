import { DEFAULT_CAMPAIGN, ensureAllBuilt, GERMAN_CAMPAIGN, TEST_CAMPAIGN } from '#testing/built-site.ts';
import {
  bareCampaign,
  campaignUnder,
  matomoCampaign,
  ownFieldsCampaign,
  plausibleCampaign,
  rearrangedCampaign,
  reversedCampaign,
  umamiCampaign,
  variantsCampaign,
} from '#testing/other-campaigns.ts';

await ensureAllBuilt([
  ...[
    TEST_CAMPAIGN,
    GERMAN_CAMPAIGN,
    rearrangedCampaign(),
    reversedCampaign(),
    bareCampaign(),
    ownFieldsCampaign(),
    variantsCampaign(),
    plausibleCampaign(),
    umamiCampaign(),
    matomoCampaign(),
  ].map((campaign) => ({ campaign })),
  ...['/guide', '/other'].map((path) => ({
    campaign: campaignUnder(path),
    publicUrl: `https://example.com${path}`,
  })),
  // The default campaign is last, because `npm test` builds its site in parallel.
  { campaign: DEFAULT_CAMPAIGN },
]);
