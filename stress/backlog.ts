// Sends a burst of codes, some to recipients that never reply: every form that got 202 must get its code in time, and all others must get
// 503. Usage: backlog.ts [--dry]
import { setTimeout } from 'node:timers/promises';

import { API } from '#shared/api.ts';
import { ENGINES, type Engine } from '#testing/databases.ts';
import { codeIn, type Inbox, type InboxBehaviour } from '#testing/inbox.ts';
import { filledForm } from '#testing/server-under-test.ts';
import { createProof } from '#stress/harness/proof.ts';
import { newAddress, newNetwork, post, WITHOUT_LIMITS, type Answer } from '#stress/harness/visitors.ts';
import { watchWhile } from '#stress/harness/watch.ts';

const BURST = 400;
const MAILS_A_SECOND = 5;
const SHORT_TTL_SECONDS = 60;
const SILENT_FORMS = 100;
const HONEST_VISITORS = 10;
const HONEST_EVERY_MS = 1_000;
/** About as long as the button shows "Sending Code...". */
const HONEST_PATIENCE_SECONDS = 5;
const HEALTH_EVERY_MS = 250;
const AGAIN_AFTER_MS = 200;
/** A busy machine may not respond to a monitor. */
const NO_ANSWER = 0;

type Burst = 'one network' | 'a network each';

const proof = createProof('prove:backlog');
const slowRows = proof.rows(
  `${BURST} forms at once, ${MAILS_A_SECOND} mails a second, codes live ${SHORT_TTL_SECONDS} s`,
  'engine',
  'answered 202',
  'answered 503',
  'of the 202 never mailed',
  'of the 202 mailed and not accepted',
  'longest wait of others',
  'others answered 503 first',
  'health',
);
const silentRows = proof.rows(
  `${SILENT_FORMS} forms without a reply from the mail server`,
  'engine',
  'answered 202',
  'longest wait of others',
  'others answered 503',
  'others without a code',
  'health',
);

let domains = 0;
const newEmail = (parent: string): string => newAddress(`domain-${(domains += 1)}.${parent}`);

/** Retries while the server sheds load, which is not measured here. */
async function insist(...request: Parameters<typeof post>): Promise<Answer> {
  for (;;) {
    const answer = await post(...request);
    if (answer.headers.get('x-error-code') !== 'unavailable') return answer;
    await setTimeout(AGAIN_AFTER_MS);
  }
}

function slowly(mailsASecond: number): InboxBehaviour {
  let last: Promise<unknown> = Promise.resolve();
  return {
    onMessage: () => {
      const done = last.then(() => setTimeout(1000 / mailsASecond));
      last = done;
      return done.then(() => null);
    },
  };
}

async function meetSite<Result>(
  engine: Engine,
  { behaviour, env }: { behaviour: InboxBehaviour; env?: Record<string, string> },
  meet: (url: string, inbox: Inbox) => Promise<Result>,
): Promise<{ readonly met: Result; readonly healths: ReadonlySet<number> }> {
  const site = await proof.prepareSite(engine, {
    inbox: behaviour,
    env: { ...WITHOUT_LIMITS, LOG_LEVEL: 'silent', TRUST_PROXY: '1', ...env },
  });
  const server = await site.start();
  const askHealth = () =>
    fetch(`${server.url}${API.health}`).then(
      ({ status }) => status,
      () => NO_ANSWER,
    );
  const { looks, result } = await watchWhile(askHealth, HEALTH_EVERY_MS, () => meet(server.url, site.inbox));
  await site.close();
  return { met: result, healths: new Set(looks) };
}

async function comeHonestly(
  url: string,
  inbox: Inbox,
): Promise<{ seconds: number; refusals: number; arrived: boolean }> {
  const start = performance.now();
  const from = newNetwork();
  const email = newEmail('honest.example');
  let refusals = 0;
  for (;;) {
    const answer = await insist(`${url}${API.leads}`, filledForm({ email }), '', from);
    if (answer.status === 202) break;
    refusals += 1;
    await setTimeout(Number(answer.headers.get('retry-after') ?? 1) * 1000);
  }
  const arrived = await inbox.waitForMail(email, 1, 240_000).then(
    () => true,
    () => false,
  );
  return { seconds: (performance.now() - start) / 1000, refusals, arrived };
}

async function comeOneByOne(url: string, inbox: Inbox) {
  const all: ReturnType<typeof comeHonestly>[] = [];
  for (let count = 0; count < HONEST_VISITORS; count += 1) {
    all.push(comeHonestly(url, inbox));
    await setTimeout(HONEST_EVERY_MS);
  }
  const visits = await Promise.all(all);
  return {
    longest: Math.max(...visits.map(({ seconds }) => seconds)),
    refusals: visits.reduce((sum, { refusals }) => sum + refusals, 0),
    missing: visits.filter(({ arrived }) => !arrived).length,
  };
}

const say = (healths: Iterable<number>): string => [...healths].sort().join(', ');

const sendBurst = (url: string, burst: Burst) => {
  const one = newNetwork();
  return Array.from({ length: BURST }, async () => {
    const email = newAddress();
    const from = burst === 'one network' ? one : newNetwork();
    return { email, answer: await insist(`${url}${API.leads}`, filledForm({ email }), '', from) };
  });
};

async function enterCode(
  url: string,
  inbox: Inbox,
  { email, answer }: { email: string; answer: Answer },
): Promise<'verified' | 'unmailed' | 'refused'> {
  const mail = await inbox.waitForMail(email, 1, 2 * SHORT_TTL_SECONDS * 1000).catch(() => null);
  if (mail === null) return 'unmailed';
  const { status } = await insist(`${url}${API.verify}`, { email, code: codeIn(mail) }, answer.cookie);
  return status === 200 ? 'verified' : 'refused';
}

const isAnswered = ({ status, headers }: Answer): boolean =>
  status === 202 ||
  (status === 503 &&
    headers.get('x-error-code') === 'mail-backlog' &&
    Number(headers.get('retry-after')) > 0);

async function beFlooded(engine: Engine, burst: Burst): Promise<void> {
  const what = `${BURST} forms from ${burst}, ${engine}`;
  const env = { CODE_TTL_SECONDS: String(SHORT_TTL_SECONDS) };
  const { met, healths } = await meetSite(
    engine,
    { behaviour: slowly(MAILS_A_SECOND), env },
    async (url, inbox) => {
      const forms = sendBurst(url, burst);
      await setTimeout(HONEST_EVERY_MS);
      const honest = comeOneByOne(url, inbox);
      const asked = await Promise.all(forms);
      for (const { answer } of asked)
        proof.expect(isAnswered(answer), `${what}: got ${answer.status}: ${answer.body}`);
      const taken = asked.filter(({ answer }) => answer.status === 202);
      const outcomes = await Promise.all(taken.map((form) => enterCode(url, inbox, form)));
      return {
        taken: taken.length,
        refused: asked.filter(({ answer }) => answer.status === 503).length,
        unmailed: outcomes.filter((outcome) => outcome === 'unmailed').length,
        useless: outcomes.filter((outcome) => outcome === 'refused').length,
        visits: await honest,
      };
    },
  );
  const { taken, refused, unmailed, useless, visits } = met;
  slowRows.add(
    burst,
    engine,
    taken,
    refused,
    unmailed,
    useless,
    `${visits.longest.toFixed(1)} s`,
    visits.refusals,
    say(healths),
  );
  proof.expect(unmailed + useless + visits.missing === 0, `${what}: a 202 was not kept`);
  proof.expect(
    burst === 'one network' || refused === 0 || healths.has(503),
    `${what}: health did not answer 503`,
  );
  proof.expect(
    burst !== 'one network' || (visits.longest <= HONEST_PATIENCE_SECONDS && visits.refusals === 0),
    `${what}: others waited ${visits.longest.toFixed(1)} s`,
  );
}

async function meetSilence(engine: Engine, burst: Burst): Promise<void> {
  const what = `silence, ${burst}, ${engine}`;
  const behaviour: InboxBehaviour = {
    onRecipient: (address) => (address.endsWith('silent.example') ? new Promise<null>(() => {}) : null),
  };
  const { met, healths } = await meetSite(engine, { behaviour }, async (url, inbox) => {
    const one = newNetwork();
    const statuses = await Promise.all(
      Array.from({ length: SILENT_FORMS }, async () => {
        const [from, email] =
          burst === 'one network'
            ? [one, newEmail('silent.example')]
            : [newNetwork(), newAddress('silent.example')];
        return (await insist(`${url}${API.leads}`, filledForm({ email }), '', from)).status;
      }),
    );
    await setTimeout(HONEST_EVERY_MS);
    return { statuses, visits: await comeOneByOne(url, inbox) };
  });
  const { statuses, visits } = met;
  silentRows.add(
    burst === 'one network' ? 'one network, a domain each' : 'a network each, one domain',
    engine,
    statuses.filter((status) => status === 202).length,
    `${visits.longest.toFixed(1)} s`,
    visits.refusals,
    visits.missing,
    say(healths),
  );
  proof.expect(
    visits.longest <= HONEST_PATIENCE_SECONDS && visits.refusals + visits.missing === 0,
    `${what}: others waited ${visits.longest.toFixed(1)} s`,
  );
  proof.expect(healths.isSubsetOf(new Set([200, NO_ANSWER])), `${what}: health returned ${say(healths)}`);
}

for (const burst of ['one network', 'a network each'] as const) {
  await Promise.all(ENGINES.map((engine) => beFlooded(engine, burst)));
  await Promise.all(ENGINES.map((engine) => meetSilence(engine, burst)));
}
await proof.end(
  `${BURST} forms at once, ${MAILS_A_SECOND} mails a second, codes live ${SHORT_TTL_SECONDS} s: ` +
    `${slowRows.range('answered 202')} answered 202; ${slowRows.range('of the 202 never mailed')} of them were not mailed in time; ` +
    `others waited ${slowRows.range('longest wait of others')}. ` +
    `${SILENT_FORMS} forms without a reply from the mail server: others waited ${silentRows.range('longest wait of others')}`,
  slowRows.table('sorted'),
  silentRows.table('sorted'),
);
// A connection that hangs on purpose would keep this process alive.
process.exit();
