// Once for all browser tests: the site that most of them start, and the text faces. Last of all, which engines and programs this
// machine does not have. `npm run test:browser` builds the sites of other campaigns first; a test that is run alone builds its own.
import { ensureBuilt, TEST_CAMPAIGN } from '#testing/built-site.ts';
import { keepCompiled } from '#testing/environment.ts';
import { fontconfigFile, makeFonts } from '#testing/fonts.ts';
import { missingPrograms } from '#testing/programs.ts';

export default async function globalSetup(): Promise<() => void> {
  ensureBuilt(TEST_CAMPAIGN);
  keepCompiled();
  await makeFonts();
  // Every browser that is started from here on sees it, of whatever engine.
  process.env['FONTCONFIG_FILE'] = fontconfigFile('wide');
  return () => {
    for (const line of missingPrograms()) process.stderr.write(`${line}\n`);
  };
}
