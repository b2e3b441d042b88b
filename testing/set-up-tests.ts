// Installs Chromium if it is missing; on Debian, also the programs that some tests need. A run without them passes with a note.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

import { isFullBrowser, findChromium } from '#testing/chromium.ts';
import { DEBIAN_PACKAGES, missingEngines } from '#testing/engines/find-engines.ts';
import { describeUntested, missingPrograms, PROGRAMS } from '#testing/programs.ts';

function run(command: string, ...parameters: string[]): boolean {
  process.stdout.write(`> ${command} ${parameters.join(' ')}\n`);
  const { status, stdout } = spawnSync(command, parameters, {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    // Prevents Debian from starting nginx on port 80 after installing it.
    env: { ...process.env, RUNLEVEL: '1', DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (status !== 0) process.stdout.write(stdout);
  return status === 0;
}

const debianAsRoot = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');

/** A test machine can start again after a power failure, so nothing is synced. */
const install = (packages: readonly string[]): boolean =>
  run(
    'apt-get',
    'install',
    '-y',
    '-qq',
    '--no-install-recommends',
    '-o',
    'Dpkg::Options::=--force-unsafe-io',
    ...packages,
  );

function missingPackages(): (readonly string[])[] {
  const chromium = findChromium();
  const programs = existsSync('/run/systemd/system') ? [] : missingPrograms();
  return [
    ...(chromium === undefined || isFullBrowser(chromium) ? [['chromium-headless-shell']] : []),
    ...missingEngines().map((name) => DEBIAN_PACKAGES[name]),
    ...programs.map((name) => [PROGRAMS[name].debian]),
  ];
}

const missing = debianAsRoot ? missingPackages() : [];
if (missing.length > 0 && run('apt-get', 'update', '-qq') && !install(missing.flat())) {
  for (const packages of missing) install(packages);
  if (findChromium() === undefined) install(['chromium']);
}
if (findChromium() === undefined)
  run('npx', 'playwright', 'install', ...(debianAsRoot ? ['--with-deps'] : []), 'chromium');

const found = findChromium();
if (found === undefined) {
  process.stderr.write('Chromium is missing and could not be installed. Install it, or set CHROME_PATH.\n');
  process.exit(1);
}
process.stdout.write(`Testing with ${found}\n`);
for (const line of describeUntested()) process.stderr.write(`${line}\n`);
