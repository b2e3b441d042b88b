import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { API, PROOF_OF_WORK_HEADER } from '#shared/api.ts';
import { ENGINES, type Engine } from '#testing/databases.ts';
import { filledForm } from '#testing/server-under-test.ts';
import type { PreparedSite, SiteProcess } from '#testing/start-site.ts';
import { NASTY } from '#stress/fuzz/requests.ts';
import type { Proof, Rows } from '#stress/harness/proof.ts';
import { newAddress, newLedger, walk, WITHOUT_LIMITS } from '#stress/harness/visitors.ts';

const RESETS = 300;
const MADE_UP_ADDRESSES = 100;
const ATTACKERS = 12;
const CONNECTIONS_EACH = 500;
const VISITORS = 20;
/** A limit that is never reached, but makes the server store IP addresses. */
const COUNTED = { LEADS_PER_IP_PER_HOUR: '1000000' } as const;

type Parts = {
  readonly metricsPort: number;
  readonly text: (length: number) => string;
};

export async function tryRudeClients(proof: Proof, rows: Rows, { metricsPort, text }: Parts): Promise<void> {
  const onSite = async (
    what: string,
    engine: Engine,
    env: Record<string, string>,
    attempt: (server: SiteProcess, site: PreparedSite) => Promise<string>,
  ): Promise<void> => {
    const site = await proof.prepareSite(engine, {
      env: { ...WITHOUT_LIMITS, ...env, METRICS_PORT: String(metricsPort) },
    });
    const server = await site.start();
    const seen = await attempt(server, site);
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    for (const [line] of metrics.matchAll(/^lead_page_request_seconds_count\{[^}]*status="5.*$/gm))
      proof.expect(false, `${what} on ${engine}: ${line}`);
    const complaint = /^.*"level":[56]0.*$/m.exec(server.output())?.[0];
    proof.expect(complaint === undefined, `${what} on ${engine}: ${complaint?.slice(0, 200)}`);
    await site.close();
    rows.add(`${what}, ${engine}`, seen);
  };

  for (const engine of ENGINES) {
    await onSite('forms sent and reset', engine, {}, async ({ port }) => {
      for (let count = 0; count < RESETS; count += 1) await sendAndReset(port);
      return String(RESETS);
    });
    await onSite('addresses of 7 kB', engine, { TRUST_PROXY: '1', ...COUNTED }, async ({ url }) => {
      const statuses = new Set<number>();
      for (let count = 0; count < MADE_UP_ADDRESSES; count += 1)
        statuses.add(await postForm(url, { 'x-forwarded-for': text(7_000).replaceAll(',', '.') }));
      return `${MADE_UP_ADDRESSES}, answered ${[...statuses].join(', ')}`;
    });
  }
  await onSite('stress of work made up', 'sqlite', { BREAKER_CODES_PER_MINUTE: '1' }, async ({ url }) => {
    const statuses = await sendMadeUpProofs(url);
    proof.expect(
      [...statuses.keys()].every((status) => status >= 400),
      'an invented proof of work was accepted',
    );
    return Array.from(statuses, ([status, count]) => `${count} answered ${status}`).join(', ');
  });
  await onSite('idle connections', 'sqlite', {}, async ({ url, port }, { inbox }) => {
    const held: Socket[] = [];
    for (let attacker = 0; attacker < ATTACKERS; attacker += 1)
      held.push(...(await holdConnections(port, `127.0.1.${attacker + 1}`, CONNECTIONS_EACH)));
    const ledger = newLedger();
    for (let count = 0; count < VISITORS; count += 1)
      await walk({ url, inbox, ledger }, AbortSignal.timeout(20_000));
    const came = `${ledger.verified.size} of ${VISITORS} visitors came through`;
    const unanswered = ledger.answers.get('no answer') ?? 0;
    proof.expect(
      ledger.verified.size === VISITORS && unanswered === 0,
      `idle connections: ${came}, ${unanswered} requests unanswered`,
    );
    for (const socket of held) socket.destroy();
    return `${held.length} from ${ATTACKERS} addresses; ${came}`;
  });
}

async function sendMadeUpProofs(url: string): Promise<ReadonlyMap<number, number>> {
  // A closed breaker ignores proofs.
  while ((await postForm(url, {})) !== 428);
  const challenge: unknown = await (await fetch(`${url}${API.proofOfWork}`)).json();
  const statuses = new Map<number, number>();
  for (const madeUp of madeUpProofs({ challenge, solution: SOLUTION })) {
    const encoded = Buffer.from(JSON.stringify(madeUp)).toString('base64');
    const status = await postForm(url, { [PROOF_OF_WORK_HEADER]: encoded });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  return statuses;
}

async function sendAndReset(port: number): Promise<void> {
  const body = JSON.stringify(filledForm({ email: newAddress() }));
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(
    `POST ${API.leads} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.resetAndDestroy(),
  );
  await once(socket, 'close');
}

async function postForm(url: string, headers: Record<string, string>): Promise<number> {
  const response = await fetch(`${url}${API.leads}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(filledForm({ email: newAddress() })),
  });
  await response.arrayBuffer();
  return response.status;
}

const holdConnections = (port: number, localAddress: string, count: number): Promise<Socket[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
      socket.on('error', () => {});
      return socket;
    }),
  );

const SOLUTION = { counter: 2_500, derivedKey: '00'.repeat(32), time: 1 };

/** Repeats a proof with one invalid value in one place each time. */
function* madeUpProofs(proof: unknown): Generator {
  const inner: readonly unknown[] = [...NASTY, { toString: 1, valueOf: 1 }, { length: 64 }, 1e308];
  yield* inner;
  if (typeof proof !== 'object' || proof === null) return;
  for (const [key, value] of Object.entries(proof)) {
    for (const changed of madeUpProofs(value)) yield { ...proof, [key]: changed };
  }
}
