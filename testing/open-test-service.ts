// A service (server/service.ts) of an instance that a test or a proof made up, with the words of the tests.
import assert from 'node:assert/strict';

import { readCampaign } from '#server/campaign.ts';
import { readConfig, resolvePaths } from '#server/config.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { createLogger } from '#server/observability/logger.ts';
import { openService, type Instance, type Service, type ServiceReplacements } from '#server/service.ts';

/**
 * An instance.
 * @param folder where relative names in settings start
 * @param env its settings
 */
export function testInstance(folder: string, env: Readonly<Record<string, string>>): Instance {
  const settings = readConfig(env);
  assert(settings.type === 'config', JSON.stringify(settings));
  const words = readCampaign(env['CAMPAIGN_FOLDER'] ?? TEST_CAMPAIGN);
  assert(words.type === 'campaign', JSON.stringify(words));
  const { config, warnings } = settings;
  return { config: resolvePaths(config, folder), folder, warnings, campaign: words.campaign };
}

/** Opens its service, which logs and says nothing unless it is given where to. The caller closes it. */
export async function openTestService(
  folder: string,
  env: Readonly<Record<string, string>>,
  replacements: Partial<ServiceReplacements> = {},
): Promise<Service> {
  const result = await openService(testInstance(folder, env), {
    logger: createLogger('silent', { write: () => {} }),
    say: () => {},
    ...replacements,
  });
  assert(result.type === 'service', JSON.stringify(result));
  return result.service;
}
