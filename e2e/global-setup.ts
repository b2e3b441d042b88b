// Once for all browser tests: the built sites, the text faces, and PostgreSQL, unless the environment names one. Last of all,
// which engines and programs this machine does not have.
import { DEFAULT_CAMPAIGN, ensureBuilt, GERMAN_CAMPAIGN, TEST_CAMPAIGN } from '#testing/built-site.ts';
import { POSTGRES_URL_VARIABLE } from '#testing/databases.ts';
import { keepCompiled } from '#testing/environment.ts';
import { fontconfigFile, makeFonts } from '#testing/fonts.ts';
import { ownFieldsCampaign } from '#testing/other-campaigns.ts';
import { QUICK, startPostgres } from '#testing/postgres-server.ts';
import { missingPrograms } from '#testing/programs.ts';

export default async function globalSetup(): Promise<() => Promise<void>> {
  for (const campaign of [TEST_CAMPAIGN, DEFAULT_CAMPAIGN, GERMAN_CAMPAIGN, ownFieldsCampaign()])
    ensureBuilt(campaign);
  keepCompiled();
  await makeFonts();
  // Every browser that is started from here on sees it, of whatever engine.
  process.env['FONTCONFIG_FILE'] = fontconfigFile('wide');
  const postgres = process.env[POSTGRES_URL_VARIABLE] ? undefined : await startPostgres({ settings: QUICK });
  if (postgres !== undefined) process.env[POSTGRES_URL_VARIABLE] = postgres.url;
  return async () => {
    await postgres?.stop();
    for (const line of missingPrograms()) process.stderr.write(`${line}\n`);
  };
}
