// Flows per second with and without an export, in turns, so other load affects both. Usage: desk-export.ts [leads] [--dry]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

import { KEPT_BY_BROWSER } from '#desk/endpoints/auth.ts';
import { ENGINES, type Engine } from '#testing/databases.ts';
import { freePort } from '#testing/free-port.ts';
import { until } from '#testing/until.ts';
import { fillHistory, KEPT_FOR_EVER } from '#stress/harness/history.ts';
import { argument, createProof } from '#stress/harness/proof.ts';
import { median } from '#stress/harness/report.ts';
import { createClient, type Client } from '#stress/speed/client.ts';
import { closedLoop, forMs } from '#stress/speed/loops.ts';
import { startSink } from '#stress/speed/sink.ts';
import { LIMITS_OUT_OF_REACH } from '#stress/harness/visitors.ts';

const LEADS = argument(0, 200_000);
const ROUNDS = 7;
const TURN_MS = 6_000;
const VISITORS = 16;
const READY_WITHIN_MS = 60_000;
/** Promised share of the speed without an export. */
const LEAST_RATIO = 0.9;
const ADA = 'ada@example.com';

/** Runs with the lowest priority, because in production the reader is on another machine. */
const READER = `
import { constants, setPriority } from 'node:os';
setPriority(constants.priority.PRIORITY_LOW);
const [, url, session] = process.argv;
let bytes = 0;
let begun = false;
process.once('SIGTERM', () => process.stdout.write(String(bytes), () => process.exit()));
for (;;) {
  const { ok, status, body } = await fetch(url + '/api/export?format=csv', { headers: { '${KEPT_BY_BROWSER.session}': session } });
  if (!ok) throw new Error('An export was answered ' + status);
  for await (const part of body) {
    if (!begun) process.stderr.write('begun\\n');
    begun = true;
    bytes += part.length;
  }
}`;

const proof = createProof('prove:desk-export');
const sink = await startSink();
const rows = proof.rows('engine', 'flows a second', 'during an export', 'ratio', 'exported meanwhile, MB');

async function measure(engine: Engine): Promise<void> {
  const port = await freePort();
  const deskUrl = `http://127.0.0.1:${port}`;
  const site = await proof.prepareSite(engine, {
    env: {
      ...LIMITS_OUT_OF_REACH,
      ...KEPT_FOR_EVER,
      LOG_LEVEL: 'error',
      SMTP_URL: sink.url,
      DESK_URL: deskUrl,
      DESK_PORT: String(port),
      DESK_PEOPLE: `${ADA}:all`,
    },
  });
  let client: Client | undefined;
  try {
    await fillHistory({ ...site, engine }, LEADS);
    const { url } = await site.start();
    await until(
      () =>
        fetch(deskUrl).then(
          ({ ok }) => ok,
          () => false,
        ),
      READY_WITHIN_MS,
    );
    const send = (path: string, body: object, headers = {}) =>
      fetch(deskUrl + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    const { signIn } = KEPT_BY_BROWSER;
    const asked = await send('/api/sign-in', { email: ADA });
    const code = await sink.codeFor(ADA);
    const entered = await send('/api/sign-in/code', { code }, { [signIn]: asked.headers.get(signIn) });
    proof.expect(entered.ok, `${engine}: signing in returned ${entered.status}`);
    const session = entered.headers.get(KEPT_BY_BROWSER.session) ?? '';

    client = createClient(url, sink);
    const { flow, abandon } = client;
    const turn = async (): Promise<number> => {
      const seen = await closedLoop({ flow, abandon }, { at: VISITORS, goesOn: forMs(TURN_MS) });
      proof.expect(seen.failed === 0, `${engine}: ${seen.failed} flows failed: ${seen.failure}`);
      return seen.count / seen.seconds;
    };
    let bytes = 0;
    const turnBesideExport = async (): Promise<number> => {
      const reader = spawn(process.execPath, ['--input-type=module', '-e', READER, deskUrl, session], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const said = text(reader.stdout);
      await once(reader.stderr, 'data');
      const speed = await turn();
      proof.expect(reader.exitCode === null, `${engine}: the reader of the export ended by itself`);
      reader.kill('SIGTERM');
      bytes += Number(await said);
      return speed;
    };
    const speeds = { alone: [] as number[], duringExport: [] as number[] };
    await turn();
    for (let round = 0; round < ROUNDS; round += 1) {
      speeds.alone.push(await turn());
      speeds.duringExport.push(await turnBesideExport());
    }
    const [alone, duringExport] = [median(speeds.alone), median(speeds.duringExport)];
    rows.add(
      engine,
      alone.toFixed(0),
      duringExport.toFixed(0),
      (duringExport / alone).toFixed(2),
      (bytes / 1e6).toFixed(0),
    );
    proof.expect(
      duringExport / alone >= LEAST_RATIO,
      `${engine}: during an export, only ${(duringExport / alone).toFixed(2)} of the speed is left`,
    );
    proof.expect(bytes > 0, `${engine}: nothing was exported`);
  } finally {
    client?.close();
    await site.close();
  }
}

for (const engine of ENGINES) await measure(engine);
sink.close();
await proof.end(
  `${LEADS.toLocaleString('en')} leads, ${VISITORS} visitors, medians of ${ROUNDS} turns. ${rows.say('flows a second', 'during an export', 'ratio')}`,
  rows.table(),
);
