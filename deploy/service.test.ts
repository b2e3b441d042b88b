import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import { inFolder } from '#testing/folder.ts';
import { findProgram, notTested } from '#testing/programs.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
const readUnit = (name: string): string => readFileSync(path.join(import.meta.dirname, name), 'utf8');
const [UNIT, TEMPLATE] = ['lead-page.service', 'lead-page@.service'].map(readUnit) as [string, string];
const SOCKET = readUnit('lead-page.socket');
const INSTALL = readFileSync(path.join(PROJECT_FOLDER, 'docs', 'install.md'), 'utf8');
const { scripts } = JSON.parse(readFileSync(path.join(PROJECT_FOLDER, 'package.json'), 'utf8')) as {
  readonly scripts: { readonly desk: string; readonly start: string };
};
/** In tenths of a point; an unrestricted service has 100. */
const MAX_EXPOSED = 15;

const valueOf = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(UNIT)?.[1] ?? '';

const analyze = findProgram('systemd-analyze');
const skip = analyze === undefined && notTested('systemd-analyze');

const analyzed = (name: string, unit: string, ...parameters: readonly string[]) =>
  inFolder((folder) => {
    const file = path.join(folder, name);
    // Links to the checkout from a path without spaces, because systemd would split the path at spaces.
    const checkout = path.join(folder, 'checkout');
    symlinkSync(PROJECT_FOLDER, checkout);
    writeFileSync(file, unit.replaceAll('/opt/lead-page', checkout));
    writeFileSync(path.join(folder, name.replace('.service', '.socket')), SOCKET);
    const { status, stdout, stderr } = spawnSync(analyze ?? '', [...parameters, file], { encoding: 'utf8' });
    return { status, said: stdout + stderr };
  });

for (const [name, unit] of [
  ['lead-page.service', UNIT],
  ['lead-page@spring.service', TEMPLATE],
] as const) {
  describe(`systemd unit ${name}`, () => {
    it('systemd understands every line of the unit file', { skip }, async () => {
      const { status, said } = await analyzed(name, unit, 'verify', '--man=no');
      assert.equal(status, 0, said);
      assert.doesNotMatch(said, /lead-page/);
    });

    it(
      `systemd-analyze rates the exposure of the unit at ${MAX_EXPOSED / 10} or less`,
      { skip },
      async () => {
        const limits = ['--offline=yes', `--threshold=${MAX_EXPOSED}`];
        const { status, said } = await analyzed(name, unit, 'security', ...limits);
        assert.equal(status, 0, said);
      },
    );
  });
}

describe('systemd units', () => {
  it('the units for one guide and for several guides differ only in name and folder', () => {
    const lines = (unit: string) => unit.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const of = (guide: string) =>
      lines(TEMPLATE)
        .map((line) => line.replaceAll('%i', guide).replaceAll('lead-pages/', 'lead-page/'))
        .filter((line) => !lines(UNIT).includes(line));
    assert.deepEqual(of('spring'), [
      'Description=Verified Lead Page spring',
      'Requires=lead-page@spring.socket',
      'StateDirectory=lead-page/spring',
      'Environment=INSTANCE_FOLDER=/var/lib/lead-page/spring',
    ]);
    assert.equal(lines(TEMPLATE).length, lines(UNIT).length);
  });

  it('docs/install.md installs the same desk command as npm run desk', () => {
    const command = scripts.desk
      .replace(/^node/, 'node_modules/.bin/node')
      .replace(/(?<= )desk\//, '/opt/lead-page/desk/');
    assert.ok(INSTALL.includes(`/opt/lead-page/${command} "$@"`), `docs/install.md: ${command}`);
  });

  it('the desk command of docs/install.md finds runuser in a cron job', () => {
    const [, program = ''] = /&& exec (\S+) -u lead-page/.exec(INSTALL) ?? [];
    const env = { PATH: '/usr/bin:/bin' };
    // Other systems have no runuser.
    if (process.platform === 'linux')
      assert.equal(spawnSync('sh', ['-c', `command -v ${program}`], { env }).status, 0, program);
  });

  it('docs/install.md starts the pinned Node under other supervisors, because Debian has an older one', () => {
    const command = scripts.start.replace(/^exec /, 'node_modules/.bin/');
    assert.ok(INSTALL.includes(`**Other supervisors** must run \`${command}\``), command);
  });

  it('docs/install.md replaces the port of the socket unit instead of adding another', () => {
    assert.match(INSTALL, /^\[Socket\]\nListenStream=\nListenStream=127\.0\.0\.1:\d+$/m);
  });

  it('the unit runs the npm start command with enough stop time and file descriptors', () => {
    const bin = '/opt/lead-page/node_modules/.bin/';
    assert.equal(valueOf('ExecStart'), scripts.start.replace(/^exec /, bin));
    assert.equal(valueOf('Requires'), 'lead-page.socket');
    assert.match(SOCKET, /^ListenStream=127\.0\.0\.1:3000$/m);
    assert.ok(Number.parseInt(valueOf('TimeoutStopSec')) > 15);
    assert.ok(Number(valueOf('LimitNOFILE')) > 5_200);
  });
});
