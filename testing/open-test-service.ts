import assert from 'node:assert/strict';

import { readCampaign, type Campaign } from '#server/campaign/campaign.ts';
import { readConfig } from '#server/settings/settings.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { createLogger } from '#server/log/logger.ts';
import { openService, type Instance, type Service, type ServiceOptions } from '#server/startup/service.ts';

function testInstance(folder: string, env: Readonly<Record<string, string>>): Instance {
  const settings = readConfig({ TIME_ZONE: 'UTC', ...env }, folder);
  assert(settings.type === 'config', JSON.stringify(settings));
  const { config, warnings } = settings;
  const campaign = env['CAMPAIGN_FOLDER'] === undefined ? testCampaign() : campaignIn(env['CAMPAIGN_FOLDER']);
  return { config, folder, warnings, campaign };
}

function campaignIn(folder: string): Campaign {
  const words = readCampaign(folder);
  assert(words.type === 'campaign', JSON.stringify(words));
  return words.campaign;
}

let known: Campaign | undefined;
const testCampaign = (): Campaign => (known ??= campaignIn(TEST_CAMPAIGN));

export async function openTestService(
  folder: string,
  env: Readonly<Record<string, string>>,
  replacements: Partial<ServiceOptions> = {},
): Promise<Service> {
  const result = await openService(testInstance(folder, env), {
    logger: createLogger('silent', { write: () => {} }),
    announce: () => {},
    ...replacements,
  });
  assert(result.type === 'service', JSON.stringify(result));
  return result.service;
}
