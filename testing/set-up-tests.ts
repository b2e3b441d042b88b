// Makes sure that there is a Chromium to test with: takes the one it finds, else installs one.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

import { findChromium } from '#testing/chromium.ts';

const run = (command: string, ...parameters: string[]): boolean => {
  process.stdout.write(`> ${command} ${parameters.join(' ')}\n`);
  return spawnSync(command, parameters, { stdio: 'inherit' }).status === 0;
};

/** In this order: Debian's own, where we may install packages; else Playwright's download. */
function installChromium(): void {
  const debianAsRoot = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if (debianAsRoot && run('apt-get', 'update', '-qq') && run('apt-get', 'install', '-y', '-qq', 'chromium'))
    return;
  run('npx', 'playwright', 'install', ...(debianAsRoot ? ['--with-deps'] : []), 'chromium');
}

if (findChromium() === undefined) installChromium();
const found = findChromium();
if (found === undefined) {
  process.stderr.write(
    'There is no Chromium and none could be installed. Install one, or name it in CHROME_PATH.\n',
  );
  process.exit(1);
}
process.stdout.write(`Testing with ${found}\n`);
