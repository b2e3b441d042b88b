// Kills the server while a receiver sometimes fails: every event must arrive at least once and in order. Usage: webhooks.ts [kills]
// [engine] [--dry]
import { setTimeout } from 'node:timers/promises';

import { Webhook } from 'standardwebhooks';

import { derivedWebhookSecrets, deriveSecrets } from '#server/secrets/secrets.ts';
import { API } from '#shared/api.ts';
import { ENGINES, type Engine } from '#testing/databases.ts';
import { TEST_SECRET } from '#testing/server-under-test.ts';
import { startReceiver, type Received } from '#testing/webhook-receiver.ts';
import { databaseOf } from '#stress/harness/promises-kept.ts';
import { argument, createProof } from '#stress/harness/proof.ts';
import { walkUnderKills } from '#stress/harness/walk-under-kills.ts';

const KILLS = argument(0, 200);
const REFUSED = 0.05;
const UNANSWERED = 0.05;
const RECEIVER_DELAY_MS = 20;
/** Longer than a lease and the retries after a few refusals. */
const PATIENCE_MS = 300_000;
const LOOK_EVERY_MS = 250;

const NAMED = ENGINES.filter((engine) => process.argv.includes(engine));

const proof = createProof('prove:webhooks', NAMED.length === 0);
const rows = proof.rows(
  'engine',
  'SIGKILLs',
  'leads',
  'events committed',
  'taken again, told apart by their key',
  'out of order',
  'still waiting after 5 min',
  'lost',
);

async function startKeeper() {
  const signature = new Webhook(derivedWebhookSecrets(deriveSecrets([TEST_SECRET]))[0]!);
  const kept = new Map<string, Received>();
  let taken = 0;
  let forged = 0;
  const receiver = await startReceiver((received, response) => {
    void setTimeout(Math.random() * 2 * RECEIVER_DELAY_MS).then(() => {
      const fate = Math.random();
      if (fate < REFUSED) return response.writeHead(500).end();
      try {
        signature.verify(received.text, received.headers as Record<string, string>);
      } catch {
        forged += 1;
      }
      taken += 1;
      if (!kept.has(received.id)) kept.set(received.id, received);
      if (fate < REFUSED + UNANSWERED) return response.destroy();
      return response.writeHead(204).end();
    });
  });
  return { receiver, kept, counts: () => ({ taken, forged }) };
}

async function readArticle(url: string, cookie: string): Promise<void> {
  for (;;) {
    try {
      const response = await fetch(`${url}${API.article}`, { headers: { cookie } });
      await response.text();
      if (response.status === 200) return;
    } catch {
      // The server was killed and is restarting.
    }
    await setTimeout(LOOK_EVERY_MS);
  }
}

async function deliverUnderKills(engine: Engine): Promise<void> {
  const { receiver, kept, counts } = await startKeeper();
  const { site, server, ledger } = await walkUnderKills(proof, engine, {
    kills: KILLS,
    env: { WEBHOOK_URLS: receiver.url, WEBHOOK_ALLOW_PRIVATE: 'yes' },
    onVerified: readArticle,
  });
  const { db, close } = databaseOf(site);
  const end = Date.now() + PATIENCE_MS;
  const waiting = () => db.selectFrom('webhook_events').select('id').where('state', '=', 'queued').execute();
  while ((await waiting()).length > 0 && Date.now() < end) await setTimeout(LOOK_EVERY_MS);
  await server.stop();

  const committed = await db
    .selectFrom('webhook_events')
    .select(['id', 'type', 'lead_id', 'state', 'attempts', 'reply'])
    .execute();
  const leads = await db.selectFrom('leads').select(['id', 'first_read_at']).execute();
  await close();
  const places = new Map(
    [...kept.values()].map(({ event }, place) => [`${event.type} ${event.data.lead.id}`, place]),
  );
  const promised = leads.flatMap(({ id, first_read_at: readAt }) => [
    `lead.verified ${id}`,
    ...(readAt === null ? [] : [`lead.read ${id}`]),
  ]);
  // A kill counts as an attempt, and after several, the next is half an hour away. Such an event is late, not lost.
  const late = committed.filter(({ id, state }) => state === 'queued' && !kept.has(id));
  for (const { type, attempts, reply } of late)
    process.stdout.write(`${engine}: ${type} waits after ${attempts} attempts (${reply ?? 'no response'})\n`);
  const lateOnes = new Set(late.map((event) => `${event.type} ${event.lead_id}`));
  const lost =
    committed.filter((event) => !kept.has(event.id) && !late.includes(event)).length +
    promised.filter((one) => !places.has(one) && !lateOnes.has(one)).length;
  const unread = leads.filter(({ first_read_at: readAt }) => readAt === null).length;
  const outOfOrder = leads.filter(
    ({ id }) => (places.get(`lead.read ${id}`) ?? Infinity) < (places.get(`lead.verified ${id}`) ?? -1),
  ).length;
  const { taken, forged } = counts();
  const invented = [...kept.keys()].filter((id) => !committed.some((event) => event.id === id)).length;
  for (const [what, count] of Object.entries({ lost, outOfOrder, forged, invented }))
    proof.expect(count === 0, `${engine}: ${what}: ${count}`);
  proof.expect(unread === 0, `${engine}: ${unread} leads read the article, but the database has no record`);
  proof.expect(leads.length >= ledger.verified.size, `${engine}: fewer leads than responses with 200`);
  rows.add(engine, KILLS, leads.length, committed.length, taken - kept.size, outOfOrder, late.length, lost);
  await receiver.close();
  await site.close();
}

for (const engine of NAMED.length > 0 ? NAMED : ENGINES) await deliverUnderKills(engine);
await proof.end(
  `${KILLS} kills each. ${rows.say('events committed', 'out of order', 'still waiting after 5 min', 'lost')}`,
  rows.table(),
);
