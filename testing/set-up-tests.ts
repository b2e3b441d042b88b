// Makes sure that there is a Chromium to test with: takes the one it finds, else installs one. Firefox, WebKit and the programs that
// some tests put in front of the page it installs as well where it can; a run without them passes, and says so.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

import { findChromium } from '#testing/chromium.ts';
import { DEBIAN_PACKAGES, findEngine } from '#testing/engines/find-engines.ts';
import { findProgram, missingPrograms, PROGRAM_NAMES, PROGRAMS } from '#testing/programs.ts';

const run = (command: string, ...parameters: string[]): boolean => {
  process.stdout.write(`> ${command} ${parameters.join(' ')}\n`);
  // Debian starts what it installs, but not in this runlevel: nobody who tests wants an nginx at port 80.
  return (
    spawnSync(command, parameters, { stdio: 'inherit', env: { ...process.env, RUNLEVEL: '1' } }).status === 0
  );
};

const debianAsRoot = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');

/** Debian's own, where we may install packages. */
const installDebian = (...packages: string[]): boolean =>
  debianAsRoot &&
  run('apt-get', 'update', '-qq') &&
  run('apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...packages);

/** In this order: Debian's own; else Playwright's download. */
function installChromium(): void {
  if (installDebian('chromium-headless-shell') || installDebian('chromium')) return;
  run('npx', 'playwright', 'install', ...(debianAsRoot ? ['--with-deps'] : []), 'chromium');
}

if (findChromium() === undefined) installChromium();
for (const name of ['firefox', 'webkit'] as const) {
  if (findEngine(name) === undefined) installDebian(...DEBIAN_PACKAGES[name]);
}
// systemd would start them in any runlevel.
if (!existsSync('/run/systemd/system')) {
  for (const name of PROGRAM_NAMES) if (findProgram(name) === undefined) installDebian(PROGRAMS[name].debian);
}
const found = findChromium();
if (found === undefined) {
  process.stderr.write(
    'There is no Chromium and none could be installed. Install one, or name it in CHROME_PATH.\n',
  );
  process.exit(1);
}
process.stdout.write(`Testing with ${found}\n`);
for (const line of missingPrograms()) process.stderr.write(`${line}\n`);
