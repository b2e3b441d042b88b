// Makes sure that there is a Chromium to test with: takes the one it finds, else installs one. On Debian it installs the quicker one without
// windows, Firefox, WebKit and the programs that some tests put in front of the page as well; a run without them passes, and says so.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

import { drawsWindows, findChromium } from '#testing/chromium.ts';
import { DEBIAN_PACKAGES, findEngine } from '#testing/engines/find-engines.ts';
import { findProgram, missingPrograms, PROGRAM_NAMES, PROGRAMS } from '#testing/programs.ts';

function run(command: string, ...parameters: string[]): boolean {
  process.stdout.write(`> ${command} ${parameters.join(' ')}\n`);
  const { status, stdout } = spawnSync(command, parameters, {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    // Debian starts what it installs, but not in this runlevel: a machine for tests needs no nginx at port 80.
    env: { ...process.env, RUNLEVEL: '1', DEBIAN_FRONTEND: 'noninteractive' },
  });
  // What went well is hundreds of lines.
  if (status !== 0) process.stdout.write(stdout);
  return status === 0;
}

const debianAsRoot = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');

/** Debian's own. A machine for tests that loses its power while it installs them begins anew, so nothing waits for the disk. */
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

/** What Debian calls what is not here, in groups that are of use without the others. */
function missingPackages(): (readonly string[])[] {
  const chromium = findChromium();
  const engines = (['firefox', 'webkit'] as const).filter((name) => findEngine(name) === undefined);
  // systemd would start them in any runlevel.
  const programs = existsSync('/run/systemd/system')
    ? []
    : PROGRAM_NAMES.filter((name) => findProgram(name) === undefined);
  return [
    ...(chromium === undefined || drawsWindows(chromium) ? [['chromium-headless-shell']] : []),
    ...engines.map((name) => DEBIAN_PACKAGES[name]),
    ...programs.map((name) => [PROGRAMS[name].debian]),
  ];
}

const missing = debianAsRoot ? missingPackages() : [];
if (missing.length > 0 && run('apt-get', 'update', '-qq') && !install(missing.flat())) {
  // This Debian may not have one of them.
  for (const packages of missing) install(packages);
  if (findChromium() === undefined) install(['chromium']);
}
if (findChromium() === undefined)
  run('npx', 'playwright', 'install', ...(debianAsRoot ? ['--with-deps'] : []), 'chromium');

const found = findChromium();
if (found === undefined) {
  process.stderr.write(
    'There is no Chromium and none could be installed. Install one, or name it in CHROME_PATH.\n',
  );
  process.exit(1);
}
process.stdout.write(`Testing with ${found}\n`);
for (const line of missingPrograms()) process.stderr.write(`${line}\n`);
