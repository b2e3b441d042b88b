import assert from 'node:assert/strict';
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

import { writeFileAtomically } from '#desk/commands/output-file.ts';
import { deskIn, refused } from '#testing/desk.ts';
import { inFolder } from '#testing/folder.ts';
import { makeNode, unlessRoot } from '#testing/device-nodes.ts';
import { openTestService } from '#testing/open-test-service.ts';
import { TEST_SECRET } from '#testing/server-under-test.ts';

const write = (file: string, text = 'new\n') => writeFileAtomically(file, (append) => append(text));
const isRefused = (file: string, why: string) =>
  assert.rejects(write(file), { message: `${file} cannot be written: ${why}` });
const settings = { APP_SECRET: TEST_SECRET };

const backUp = (folder: string, name: string) =>
  deskIn(folder, settings, ['backup', path.join(folder, name)]);
const withDatabase = (folder: string) => openTestService(folder, settings).then((service) => service.close());

it('an output file replaces the previous one and is readable only by its owner', () =>
  inFolder(async (folder) => {
    const file = path.join(folder, 'leads.csv');
    writeFileSync(file, 'old', { mode: 0o644 });
    await write(file);
    assert.equal(readFileSync(file, 'utf8'), 'new\n');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder), ['leads.csv']);
  }));

it('writing an output file through a symbolic link keeps the link', () =>
  inFolder(async (folder) => {
    mkdirSync(path.join(folder, 'there'));
    for (const [name, target] of [
      ['whole.csv', 'there/whole.csv'],
      ['twice.csv', 'whole.csv'],
    ] as const)
      symlinkSync(target, path.join(folder, name));
    writeFileSync(path.join(folder, 'there/whole.csv'), 'old');
    await write(path.join(folder, 'whole.csv'));
    await write(path.join(folder, 'twice.csv'), 'second\n');
    assert.equal(readlinkSync(path.join(folder, 'whole.csv')), 'there/whole.csv');
    assert.equal(readFileSync(path.join(folder, 'there/whole.csv'), 'utf8'), 'second\n');
    assert.deepEqual(readdirSync(path.join(folder, 'there')), ['whole.csv']);
  }));

it('a failed write of an output file gives the reason and leaves no partial file', () =>
  inFolder(async (folder) => {
    writeFileSync(path.join(folder, 'file'), '');
    symlinkSync('loop', path.join(folder, 'loop'));
    writeFileSync(path.join(folder, 'leads.db'), 'SQLite format 3\0 and so on');
    const before = readdirSync(folder);
    for (const [name, why] of [
      ['x'.repeat(300), 'its name is too long. Choose a shorter one.'],
      ['missing/leads.csv', 'its folder does not exist. Create the folder first, or name another.'],
      ['file/leads.csv', 'its folder is a file. Name another folder.'],
      ['.', 'it is a folder. Name a file in it.'],
      ['missing/', 'it is a folder. Name a file in it.'],
      ['loop', 'its symbolic links form a loop. Name another file.'],
      ['leads.db', 'it is a database. Name another file.'],
    ] as const)
      await isRefused(path.join(folder, name), why);
    assert.deepEqual(readdirSync(folder), before);
  }));

it('output to a named pipe does not replace the pipe', () =>
  inFolder(async (folder) => {
    const pipe = path.join(folder, 'pipe');
    makeNode(pipe, 'p');
    // Opens both ends, because each would block until the other is open.
    const ends = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    await write(pipe);
    const read = Buffer.alloc(99);
    assert.equal(read.toString('utf8', 0, readSync(ends, read)), 'new\n');
    closeSync(ends);
    assert(lstatSync(pipe).isFIFO());
    assert.deepEqual(readdirSync(folder), ['pipe']);
  }));

it('output to an open file descriptor is appended, as with >>', () =>
  inFolder(async (folder) => {
    const file = path.join(folder, 'all.csv');
    writeFileSync(file, 'old\n');
    const descriptor = openSync(file, 'a');
    await write(`/dev/fd/${descriptor}`);
    await write(`/proc/self/fd/${descriptor}`, 'newest\n');
    assert.equal(readFileSync(file, 'utf8'), 'old\nnew\nnewest\n');
    assert.deepEqual(readdirSync(folder), ['all.csv']);
  }));

it('output to a device works, and a full device is reported', { skip: unlessRoot }, () =>
  inFolder(async (folder) => {
    const [nothing, full, link] = ['null', 'full', 'link'].map((name) => path.join(folder, name));
    makeNode(nothing!, 'c', '1', '3');
    makeNode(full!, 'c', '1', '7');
    symlinkSync('null', link!);
    await write(nothing!);
    await write(link!);
    await isRefused(full!, 'the disk is full. Free some space, or choose another place.');
    for (const node of [nothing, full]) assert(lstatSync(node!).isCharacterDevice());
    assert.equal(readlinkSync(link!), 'null');
    assert.deepEqual(readdirSync(folder).toSorted(), ['full', 'link', 'null']);
  }),
);

it('a backup is never written to a pipe, folder or device', () =>
  inFolder(async (folder) => {
    await withDatabase(folder);
    const pipe = path.join(folder, 'pipe');
    makeNode(pipe, 'p');
    for (const [name, why] of [
      ['pipe', /^\/\S+\/pipe cannot be written: it is not a file, but a backup must be one\. Name a file\.$/],
      ['.', /cannot be written: it is a folder\. Name a file in it\.$/],
      ['x'.repeat(300), /cannot be written: its name is too long\./],
    ] as const) {
      await refused(backUp(folder, name), why);
    }
    assert(lstatSync(pipe).isFIFO());
    assert.deepEqual(readdirSync(folder).toSorted(), ['data', 'pipe']);
  }));

it('a backup never overwrites the database, whatever file name is given', () =>
  inFolder(async (folder) => {
    await withDatabase(folder);
    const live = path.join(folder, 'data', 'leads.db');
    symlinkSync('data/leads.db', path.join(folder, 'link.db'));
    const { ino } = statSync(live);
    for (const name of ['data/leads.db', 'data/leads.db-wal', 'link.db', 'data/../data/leads.db']) {
      await refused(
        backUp(folder, name),
        /cannot be written: it is the database itself\. Name another file\.$/,
      );
      assert.equal(statSync(live).ino, ino);
    }
  }));
