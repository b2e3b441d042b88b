// Kills the server under load while the webhook receiver sometimes fails: every 202 must lead to a mailed code, every code to a
// lead, and every event must arrive at least once and in order.
import { setTimeout } from 'node:timers/promises';

import { Webhook } from 'standardwebhooks';

import type { Db } from '#server/db/engine/connect.ts';
import { derivedWebhookSecrets, deriveSecrets } from '#server/secrets/secrets.ts';
import { API } from '#shared/api.ts';
import { ENGINES, type Engine } from '#testing/databases.ts';
import { freePort } from '#testing/free-port.ts';
import { TEST_SECRET } from '#testing/server-under-test.ts';
import { startReceiver, type Received } from '#testing/webhook-receiver.ts';
import { defineCase, type Trial } from '#stress/harness/cases.ts';
import { databaseOf } from '#stress/harness/promises-kept.ts';
import type { Rows } from '#stress/harness/report.ts';
import { walkWhile, WITHOUT_LIMITS } from '#stress/harness/visitors.ts';

const VISITORS = 12;
const LONGEST_LIFE_MS = 1_200;
/** Mean delays of the mail server and the receiver, so kills often interrupt both. */
const DELAY_MS = 20;
const REFUSED = 0.05;
const UNANSWERED = 0.05;
/** Longer than a lease and the retries after a few refusals. */
const PATIENCE_MS = 300_000;
const CHECK_EVERY_MS = 250;

export const crash = defineCase({ kills: 200 }, async (trial, { kills }) => {
  const rows = trial.rows();
  const eventRows = trial.rows();
  for (const engine of ENGINES) {
    await using receiver = await startEventReceiver();
    await using site = await trial.prepareSite(engine, {
      env: { ...WITHOUT_LIMITS, WEBHOOK_URLS: receiver.url, WEBHOOK_ALLOW_PRIVATE: 'yes' },
      inbox: { onMessage: randomDelay },
    });
    let server = await site.start({ PORT: String(await freePort()) });
    const { url, port } = server;
    const options = { url, inbox: site.inbox, onVerified: (cookie: string) => readArticle(url, cookie) };
    const ledger = await walkWhile(options, VISITORS, async ({ acknowledged }) => {
      for (let kill = 1; kill <= kills; kill += 1) {
        await setTimeout(Math.random() * LONGEST_LIFE_MS);
        await server.stop('SIGKILL');
        server = await site.start({ PORT: String(port) });
        if (kill % 20 === 0)
          process.stdout.write(`${engine}: ${kill} kills, ${acknowledged.size} acknowledged\n`);
      }
    });
    await using database = databaseOf(site);
    const { db } = database;
    const end = Date.now() + PATIENCE_MS;
    const queued = db.selectFrom('webhook_events').select('id').where('state', '=', 'queued');
    while ((await queued.execute()).length > 0 && Date.now() < end) await setTimeout(CHECK_EVERY_MS);
    await server.stop();

    const account = await trial.expectKept(engine, site, ledger);
    rows.add({
      engine,
      SIGKILLs: kills,
      'requests cut off': ledger.statusCounts.get('no response') ?? 0,
      'forms got 202': ledger.acknowledged.size,
      'codes lost': account.lostMails,
      'codes mailed twice': account.duplicates,
      'leads got 200': ledger.verified.size,
      'leads whose response was cut off': account.unacknowledgedLeads,
      'leads lost': account.lostLeads + account.falseSuccesses + account.withoutReceipt,
    });
    await expectEvents(trial, eventRows, engine, receiver, db);
  }
  return (
    `${kills} kills each. ${rows.summarize('requests cut off', 'leads got 200', 'codes lost', 'codes mailed twice', 'leads lost')}. ` +
    `Webhooks: ${eventRows.summarize('events committed', 'out of order', 'still waiting after 5 min', 'events lost')}`
  );
});

const randomDelay = (): Promise<null> => setTimeout(Math.random() * 2 * DELAY_MS, null);

type EventReceiver = {
  readonly url: string;
  readonly events: ReadonlyMap<string, Received>;
  readonly counts: { readonly taken: number; readonly forged: number };
} & AsyncDisposable;

async function startEventReceiver(): Promise<EventReceiver> {
  const signature = new Webhook(derivedWebhookSecrets(deriveSecrets([TEST_SECRET]))[0]!);
  const events = new Map<string, Received>();
  const counts = { taken: 0, forged: 0 };
  const receiver = await startReceiver((received, response) => {
    void randomDelay().then(() => {
      const chance = Math.random();
      if (chance < REFUSED) return response.writeHead(500).end();
      try {
        signature.verify(received.text, received.headers as Record<string, string>);
      } catch {
        counts.forged += 1;
      }
      counts.taken += 1;
      if (!events.has(received.id)) events.set(received.id, received);
      if (chance < REFUSED + UNANSWERED) return response.destroy();
      return response.writeHead(204).end();
    });
  });
  return { ...receiver, events, counts };
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
    await setTimeout(CHECK_EVERY_MS);
  }
}

async function expectEvents(
  trial: Trial,
  rows: Rows,
  engine: Engine,
  { events, counts }: EventReceiver,
  db: Db,
): Promise<void> {
  const committed = await db
    .selectFrom('webhook_events')
    .select(['id', 'type', 'lead_id', 'state', 'attempts', 'reply'])
    .execute();
  const leads = await db.selectFrom('leads').select(['id', 'first_read_at']).execute();
  const positions = new Map(
    [...events.values()].map(({ event }, position) => [`${event.type} ${event.data.lead.id}`, position]),
  );
  const promised = leads.flatMap(({ id, first_read_at: readAt }) => [
    `lead.verified ${id}`,
    ...(readAt === null ? [] : [`lead.read ${id}`]),
  ]);
  // A kill counts as an attempt, and after several attempts the next is half an hour away. Such an event is late, not lost.
  const late = committed.filter(({ id, state }) => state === 'queued' && !events.has(id));
  for (const { type, attempts, reply } of late)
    process.stdout.write(`${engine}: ${type} waits after ${attempts} attempts (${reply ?? 'no response'})\n`);
  const lateOnes = new Set(late.map((event) => `${event.type} ${event.lead_id}`));
  const eventsLost =
    committed.filter((event) => !events.has(event.id) && !late.includes(event)).length +
    promised.filter((one) => !positions.has(one) && !lateOnes.has(one)).length;
  const unread = leads.filter(({ first_read_at: readAt }) => readAt === null).length;
  const outOfOrder = leads.filter(
    ({ id }) => (positions.get(`lead.read ${id}`) ?? Infinity) < (positions.get(`lead.verified ${id}`) ?? -1),
  ).length;
  const { taken, forged } = counts;
  const invented = [...events.keys()].filter((id) => !committed.some((event) => event.id === id)).length;
  for (const [what, count] of Object.entries({ eventsLost, outOfOrder, forged, invented }))
    trial.expect(count === 0, `${engine}: ${what}: ${count}`);
  trial.expect(unread === 0, `${engine}: ${unread} leads read the article, but the database has no record`);
  rows.add({
    engine,
    'events committed': committed.length,
    'taken again, told apart by their key': taken - events.size,
    'out of order': outOfOrder,
    'still waiting after 5 min': late.length,
    'events lost': eventsLost,
  });
}
