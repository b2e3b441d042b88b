// Sends a burst of forms to a slow mail server: each 202 must get its code in time, and all others must get 503. Usage: backlog.ts [--dry]
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
const rows = proof.rows(
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

let domains = 0;

async function comeHonestly(
  url: string,
  inbox: Inbox,
): Promise<{ seconds: number; refusals: number; arrived: boolean }> {
  const start = performance.now();
  const from = newNetwork();
  const email = newAddress(`domain-${(domains += 1)}.honest.example`);
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
  const site = await proof.prepareSite(engine, {
    inbox: slowly(MAILS_A_SECOND),
    env: {
      ...WITHOUT_LIMITS,
      LOG_LEVEL: 'silent',
      TRUST_PROXY: '1',
      CODE_TTL_SECONDS: String(SHORT_TTL_SECONDS),
    },
  });
  const { inbox } = site;
  const { url } = await site.start();
  const askHealth = () =>
    fetch(`${url}${API.health}`).then(
      ({ status }) => status,
      () => NO_ANSWER,
    );
  const { looks, result } = await watchWhile(askHealth, HEALTH_EVERY_MS, async () => {
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
  });
  await site.close();
  const { taken, refused, unmailed, useless, visits } = result;
  const healths = new Set(looks);
  rows.add(
    burst,
    engine,
    taken,
    refused,
    unmailed,
    useless,
    `${visits.longest.toFixed(1)} s`,
    visits.refusals,
    [...healths].sort().join(', '),
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

for (const burst of ['one network', 'a network each'] as const)
  await Promise.all(ENGINES.map((engine) => beFlooded(engine, burst)));
await proof.end(
  `${BURST} forms at once, ${MAILS_A_SECOND} mails a second, codes live ${SHORT_TTL_SECONDS} s: ` +
    `${rows.range('answered 202')} answered 202; ${rows.range('of the 202 never mailed')} of them were not mailed in time; ` +
    `others waited ${rows.range('longest wait of others')}`,
  rows.table('sorted'),
);
