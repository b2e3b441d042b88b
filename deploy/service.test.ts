// The unit of systemd, as far as it can be looked at without a system that systemd runs.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import { inFolder } from '#testing/folder.ts';
import { findProgram, notTested } from '#testing/programs.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
const UNIT = readFileSync(path.join(import.meta.dirname, 'lead-page.service'), 'utf8');
/** In tenths; 100 is a service that may do everything. What is left is what a server on the network needs. */
const MOST_EXPOSED = 15;

const valueOf = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(UNIT)?.[1] ?? '';

const analyze = findProgram('systemd-analyze');
const skip = analyze === undefined && notTested('systemd-analyze');

/** Runs systemd-analyze on the unit, as if this checkout were in /opt/lead-page. */
async function analyzed(...parameters: readonly string[]) {
  let answer = { status: null as number | null, said: '' };
  await inFolder((folder) => {
    const file = path.join(folder, 'lead-page.service');
    writeFileSync(file, UNIT.replaceAll('/opt/lead-page', PROJECT_FOLDER));
    const { status, stdout, stderr } = spawnSync(analyze ?? '', [...parameters, file], { encoding: 'utf8' });
    answer = { status, said: stdout + stderr };
  });
  return answer;
}

describe('the unit of systemd', () => {
  it('is one that systemd understands to the last line', { skip }, async () => {
    const { status, said } = await analyzed('verify', '--man=no');
    assert.equal(status, 0, said);
    assert.doesNotMatch(said, /lead-page\.service/);
  });

  it('leaves the page next to nothing that it could do to the machine', { skip }, async () => {
    const { status, said } = await analyzed('security', '--offline=yes', `--threshold=${MOST_EXPOSED}`);
    assert.equal(status, 0, said);
  });

  it('starts what npm start starts, and gives it the time and the files that it needs', () => {
    const { scripts } = JSON.parse(readFileSync(path.join(PROJECT_FOLDER, 'package.json'), 'utf8')) as {
      scripts: { start: string };
    };
    const bin = '/opt/lead-page/node_modules/.bin/';
    assert.equal(valueOf('ExecStart'), scripts.start.replace(/^exec /, bin));
    assert.ok(Number.parseInt(valueOf('TimeoutStopSec')) > 15);
    assert.ok(Number(valueOf('LimitNOFILE')) > 5_200);
  });
});
