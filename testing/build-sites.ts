import { DEFAULT_CAMPAIGN, ensureAllBuilt, GERMAN_CAMPAIGN, TEST_CAMPAIGN } from '#testing/built-site.ts';
import { keepCompiled } from '#testing/environment.ts';
import {
  bareCampaign,
  campaignUnderPath,
  matomoCampaign,
  ownFieldsCampaign,
  plausibleCampaign,
  rearrangedCampaign,
  reversedCampaign,
  variantsCampaign,
} from '#testing/other-campaigns.ts';

keepCompiled();
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
  ].map((campaign) => ({ campaign })),
  { campaign: campaignUnderPath(), publicUrl: 'https://example.com/guide' },
  { campaign: matomoCampaign(), publicUrl: 'https://example.com/other' },
  // The default campaign is last, because `npm test` builds its site in parallel.
  { campaign: DEFAULT_CAMPAIGN },
]);
