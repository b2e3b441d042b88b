import { ensureBuilt, TEST_CAMPAIGN } from '#testing/built-site.ts';
import { keepCompiled } from '#testing/environment.ts';
import { FONTCONFIG_FILE, makeFonts } from '#testing/fonts.ts';
import { describeUntested } from '#testing/programs.ts';

export default async function globalSetup(): Promise<() => void> {
  ensureBuilt(TEST_CAMPAIGN);
  keepCompiled();
  await makeFonts();
  process.env['FONTCONFIG_FILE'] = FONTCONFIG_FILE;
  return () => {
    for (const line of describeUntested()) process.stderr.write(`${line}\n`);
  };
}
