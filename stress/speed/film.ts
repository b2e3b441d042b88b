// Many readers of a large file: every byte must be right, and memory must not grow with their number.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { PROJECT_FOLDER } from '#build/vite-config.ts';
import { defineCase } from '#stress/harness/cases.ts';
import { processorSeconds, residentBytes } from '#stress/harness/consumption.ts';
import { watchWhile } from '#stress/harness/watch.ts';

const LOOK_EVERY_MS = 250;
const REST_MS = 5_000;
const MEMORY_LIMIT_MB = 100;
const PART_BYTES = 256 * 1024;

export const film = defineCase({ seconds: 20, readers: 200 }, async (trial, { seconds, readers }) => {
  await using site = await trial.prepareSite('sqlite', { env: { LOG_LEVEL: 'fatal' } });
  const server = await site.start();
  const { child } = server;
  const { pid = 0 } = child;
  const residentMb = (): number => residentBytes(pid) / 1024 ** 2;
  const seen = { films: 0, parts: 0, hungUp: 0, bytes: 0, wrong: 0 };
  const kinds = kindsOfReaders(`${server.url}/media/film.mp4`, seen);

  // Warms the server up, so that "before" is the memory of a working process.
  for (let index = 0; index < 100; index += 1) await (await fetch(server.url)).text();
  const before = residentMb();
  const processorBefore = processorSeconds(pid);
  const { looks } = await watchWhile(residentMb, LOOK_EVERY_MS, async () => {
    const deadline = AbortSignal.timeout(seconds * 1000);
    const all = Array.from({ length: readers }, async (_, number) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let turn = number; !deadline.aborted && child.exitCode === null; turn += 1)
        await kinds[turn % kinds.length]?.(agent);
      agent.destroy();
    });
    await Promise.all(all);
  });
  const processor = processorSeconds(pid) - processorBefore;
  await setTimeout(REST_MS);
  const after = residentMb();
  const most = Math.max(...looks);
  const stopped = await server.stop();

  trial.expect(seen.wrong === 0, `${seen.wrong} responses had wrong bytes`);
  trial.expect(
    most - before <= MEMORY_LIMIT_MB,
    `memory went from ${before.toFixed(0)} to ${most.toFixed(0)} MB under readers`,
  );
  trial.expect(stopped === 0, `the server ended with ${stopped}`);
  return (
    `${readers} readers: ${seen.films.toLocaleString('en')} whole films, ${seen.parts.toLocaleString('en')} parts, ` +
    `${seen.hungUp.toLocaleString('en')} aborted, ${seen.wrong} wrong; ${(seen.bytes / 1e6 / seconds).toFixed(0)} MB a second at ` +
    `${(processor / (seen.bytes / 1e9)).toFixed(1)} s of processor time a gigabyte; memory ${before.toFixed(0)} MB at rest, ` +
    `${most.toFixed(0)} at most, ${after.toFixed(0)} afterwards`
  );
});

type Seen = { films: number; parts: number; hungUp: number; bytes: number; wrong: number };

function kindsOfReaders(url: string, seen: Seen): readonly ((agent: Agent) => Promise<void>)[] {
  const bytes = readFileSync(path.join(PROJECT_FOLDER, 'campaign', 'media', 'film.mp4'));
  const digest = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
  const whole = digest(bytes);
  const note = (kind: 'films' | 'parts' | 'hungUp', body: Buffer, isRight: boolean): void => {
    seen[kind] += 1;
    seen.bytes += body.length;
    if (!isRight) seen.wrong += 1;
  };
  return [
    async (agent) => {
      const { status, body } = await read(url, agent, null);
      note('films', body, status === 200 && digest(body) === whole);
    },
    async (agent) => {
      for (let start = 0; start < bytes.length; start += PART_BYTES) {
        const end = start + PART_BYTES;
        const { status, body } = await read(url, agent, `bytes=${start}-${end - 1}`);
        note('parts', body, status === 206 && body.equals(bytes.subarray(start, end)));
      }
    },
    async (agent) => {
      const { body } = await read(url, agent, 'bytes=0-', PART_BYTES);
      note('hungUp', body, body.equals(bytes.subarray(0, body.length)));
    },
  ];
}

type Part = { readonly status: number; readonly body: Buffer };

function read(url: string, agent: Agent, range: string | null, hangUpAfter = Infinity): Promise<Part> {
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
