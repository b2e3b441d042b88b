import { existsSync } from 'node:fs';

import { DEBIAN_PACKAGES, missingEngines } from '#testing/engines/find-engines.ts';

export const PROGRAMS = {
  nginx: {
    places: ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/opt/homebrew/bin/nginx', '/usr/local/bin/nginx'],
    debian: 'nginx-light',
  },
  caddy: { places: ['/usr/bin/caddy', '/usr/local/bin/caddy', '/opt/homebrew/bin/caddy'], debian: 'caddy' },
  pgbouncer: {
    places: ['/usr/sbin/pgbouncer', '/usr/local/bin/pgbouncer', '/opt/homebrew/bin/pgbouncer'],
    debian: 'pgbouncer',
  },
  'systemd-analyze': { places: ['/usr/bin/systemd-analyze'], debian: 'systemd' },
  // Runs a command on a terminal; macOS's version has other parameters.
  script: { places: process.platform === 'linux' ? ['/usr/bin/script'] : [], debian: 'bsdutils' },
} as const;
type ProgramName = keyof typeof PROGRAMS;

export const findProgram = (name: ProgramName): string | undefined =>
  PROGRAMS[name].places.find((file) => existsSync(file));

export const notTested = (name: ProgramName): string =>
  `!!! ${name.toUpperCase()} WAS NOT TESTED: it is not installed. On Debian: apt-get install ${PROGRAMS[name].debian}`;

export const missingPrograms = (): readonly ProgramName[] =>
  (Object.keys(PROGRAMS) as ProgramName[]).filter((name) => findProgram(name) === undefined);

export const describeUntested = (): readonly string[] => [
  ...missingEngines().map(
    (name) =>
      `!!! ${name.toUpperCase()} WAS NOT TESTED: it is not installed. ` +
      `On Debian: apt-get install ${DEBIAN_PACKAGES[name].join(' ')}; elsewhere: npx playwright install ${name}`,
  ),
  ...missingPrograms().map(notTested),
];
