// Many readers of a large file: every byte must be right, and memory must not grow with their number. Usage: film.ts [seconds] [readers]
// [--dry]
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { processorSeconds, residentBytes } from '#stress/harness/consumption.ts';
import { argument, createProof } from '#stress/harness/proof.ts';
import { watchWhile } from '#stress/harness/watch.ts';
import { PROJECT_FOLDER } from '#build/vite-config.ts';

const SECONDS = argument(0, 20);
const READERS = argument(1, 200);
const LOOK_EVERY_MS = 250;
const REST_MS = 5_000;
const MEMORY_LIMIT_MB = 100;
const PART_BYTES = 256 * 1024;

const FILM = readFileSync(path.join(PROJECT_FOLDER, 'campaign', 'media', 'film.mp4'));
const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const proof = createProof('prove:film');
const site = await proof.prepareSite('sqlite', { env: { LOG_LEVEL: 'fatal' } });
const server = await site.start();
const { child } = server;
const { pid = 0 } = child;
const residentMb = (): number => residentBytes(pid) / 1024 ** 2;
const url = `${server.url}/media/film.mp4`;

type Part = { readonly status: number; readonly body: Buffer };

function read(agent: Agent, range: string | null, hangUpAfter = Infinity): Promise<Part> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, headers: range === null ? {} : { range } }, (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      const done = () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) });
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length < hangUpAfter) return;
        request.destroy();
        done();
      });
      response.on('end', done);
      response.on('error', reject);
    });
    request.on('error', reject);
  });
}

const seen = { films: 0, parts: 0, hungUp: 0, bytes: 0, wrong: 0 };
const whole = digest(FILM);

async function readWhole(agent: Agent): Promise<void> {
  const { status, body } = await read(agent, null);
  seen.films += 1;
  seen.bytes += body.length;
  if (status !== 200 || digest(body) !== whole) seen.wrong += 1;
}

async function readInParts(agent: Agent): Promise<void> {
  for (let start = 0; start < FILM.length; start += PART_BYTES) {
    const { status, body } = await read(agent, `bytes=${start}-${start + PART_BYTES - 1}`);
    seen.parts += 1;
    seen.bytes += body.length;
    if (status !== 206 || !body.equals(FILM.subarray(start, start + PART_BYTES))) seen.wrong += 1;
  }
}

async function hangUp(agent: Agent): Promise<void> {
  const { body } = await read(agent, 'bytes=0-', PART_BYTES);
  seen.hungUp += 1;
  seen.bytes += body.length;
  if (!body.equals(FILM.subarray(0, body.length))) seen.wrong += 1;
}

const KINDS = [readWhole, readInParts, hangUp];

async function beReader(number: number, signal: AbortSignal): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let turn = number; !signal.aborted && child.exitCode === null; turn += 1) {
    await KINDS[turn % KINDS.length]?.(agent);
  }
  agent.destroy();
}

// Warms the server up, so that "before" is the memory of a working process.
for (let index = 0; index < 100; index += 1) await (await fetch(server.url)).text();
const before = residentMb();
const processorBefore = processorSeconds(pid);
const { looks } = await watchWhile(residentMb, LOOK_EVERY_MS, async () => {
  const deadline = AbortSignal.timeout(SECONDS * 1000);
  await Promise.all(Array.from({ length: READERS }, (_, number) => beReader(number, deadline)));
});
const processor = processorSeconds(pid) - processorBefore;
await setTimeout(REST_MS);
const after = residentMb();
const most = Math.max(...looks);
const stopped = await server.stop();
await site.close();

proof.expect(seen.wrong === 0, `${seen.wrong} responses had wrong bytes`);
proof.expect(
  most - before <= MEMORY_LIMIT_MB,
  `memory went from ${before.toFixed(0)} to ${most.toFixed(0)} MB under readers`,
);
proof.expect(stopped === 0, `the server ended with ${stopped}`);
await proof.end(
  `${READERS} readers: ${seen.films.toLocaleString('en')} whole films, ${seen.parts.toLocaleString('en')} parts, ` +
    `${seen.hungUp.toLocaleString('en')} aborted, ${seen.wrong} wrong; ${(seen.bytes / 1e6 / SECONDS).toFixed(0)} MB a second at ` +
    `${(processor / (seen.bytes / 1e9)).toFixed(1)} s of processor time a gigabyte; memory ${before.toFixed(0)} MB at rest, ` +
    `${most.toFixed(0)} at most, ${after.toFixed(0)} afterwards`,
);
