// Sends a burst of forms to a slow mail server: each 202 must get its code in time, and all others must get 503.
import { setTimeout } from 'node:timers/promises';

import { API } from '#shared/api.ts';
import { ENGINES, type Engine } from '#testing/databases.ts';
import { codeIn, type Inbox, type InboxBehaviour } from '#testing/inbox.ts';
import { filledForm } from '#testing/server-under-test.ts';
import { defineCase, type Trial } from '#stress/harness/cases.ts';
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
const BURSTS = ['one network', 'a network each'] as const;

export const backlog = defineCase({}, async (trial) => {
  const rows = trial.rows(
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
  for (const burst of BURSTS)
    for (const cells of await Promise.all(ENGINES.map((engine) => beFlooded(trial, engine, burst))))
      rows.add(...cells);
  return (
    `${BURST} forms at once, ${MAILS_A_SECOND} mails a second, codes live ${SHORT_TTL_SECONDS} s: ` +
    `${rows.range('answered 202')} answered 202; ${rows.range('of the 202 never mailed')} of them were not mailed in time; ` +
    `others waited ${rows.range('longest wait of others')}`
  );
});

async function beFlooded(trial: Trial, engine: Engine, burst: (typeof BURSTS)[number]) {
  const what = `${BURST} forms from ${burst}, ${engine}`;
  await using site = await trial.prepareSite(engine, {
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
  // A busy machine may not respond to a monitor.
  const askHealth = () =>
    fetch(`${url}${API.health}`).then(
      ({ status }) => status,
      () => 0,
    );
  const network = newNetwork();
  const { looks, result } = await watchWhile(askHealth, HEALTH_EVERY_MS, async () => {
    const forms = Array.from({ length: BURST }, async () => {
      const email = newAddress();
      return { email, answer: await askFrom(url, email, burst === 'one network' ? network : newNetwork()) };
    });
    await setTimeout(HONEST_EVERY_MS);
    const others = comeOneByOne(url, inbox);
    const asked = await Promise.all(forms);
    for (const { answer } of asked)
      trial.expect(isAnswered(answer), `${what}: got ${answer.status}: ${answer.body}`);
    const taken = asked.filter(({ answer }) => answer.status === 202);
    const outcomes = await Promise.all(
      taken.map(({ email, answer }) => enterCode(url, inbox, email, answer.cookie)),
    );
    return { asked, outcomes, others: await others };
  });
  const { asked, outcomes, others } = result;
  const refused = asked.filter(({ answer }) => answer.status === 503).length;
  const [unmailed, useless] = (['unmailed', 'refused'] as const).map(
    (outcome) => outcomes.filter((one) => one === outcome).length,
  );
  const healths = new Set(looks);
  const longest = Math.max(...others.map(({ seconds }) => seconds));
  const refusals = others.reduce((sum, other) => sum + other.refusals, 0);
  trial.expect(
    outcomes.every((outcome) => outcome === 'verified') && others.every(({ arrived }) => arrived),
    `${what}: a 202 was not kept`,
  );
  if (burst === 'one network')
    trial.expect(
      longest <= HONEST_PATIENCE_SECONDS && refusals === 0,
      `${what}: others waited ${longest.toFixed(1)} s`,
    );
  else trial.expect(refused === 0 || healths.has(503), `${what}: health did not answer 503`);
  return [
    burst,
    engine,
    outcomes.length,
    refused,
    unmailed!,
    useless!,
    `${longest.toFixed(1)} s`,
    refusals,
    [...healths].sort().join(', '),
  ];
}

function slowly(mailsASecond: number): InboxBehaviour {
  let last: Promise<null> = Promise.resolve(null);
  return { onMessage: () => (last = last.then(() => setTimeout(1000 / mailsASecond, null))) };
}

/** Retries while the server sheds load, which is not measured here. */
async function insist(...request: Parameters<typeof post>): Promise<Answer> {
  for (;;) {
    const answer = await post(...request);
    if (answer.headers.get('x-error-code') !== 'unavailable') return answer;
    await setTimeout(AGAIN_AFTER_MS);
  }
}

const askFrom = (url: string, email: string, network: string): Promise<Answer> =>
  insist(`${url}${API.leads}`, filledForm({ email }), '', network);

const isAnswered = ({ status, headers }: Answer): boolean =>
  status === 202 ||
  (status === 503 &&
    headers.get('x-error-code') === 'mail-backlog' &&
    Number(headers.get('retry-after')) > 0);

async function enterCode(
  url: string,
  inbox: Inbox,
  email: string,
  cookie: string,
): Promise<'verified' | 'unmailed' | 'refused'> {
  const mail = await inbox.waitForMail(email, 1, 2 * SHORT_TTL_SECONDS * 1000).catch(() => null);
  if (mail === null) return 'unmailed';
  const { status } = await insist(`${url}${API.verify}`, { email, code: codeIn(mail) }, cookie);
  return status === 200 ? 'verified' : 'refused';
}

/** Visitors with other networks and e-mail domains than the burst. */
const comeOneByOne = (url: string, inbox: Inbox) =>
  Promise.all(
    Array.from({ length: HONEST_VISITORS }, async (_, count) => {
      await setTimeout(count * HONEST_EVERY_MS);
      const start = performance.now();
      const network = newNetwork();
      const email = newAddress(`domain-${count}.example`);
      let refusals = 0;
      for (;;) {
        const { status, headers } = await askFrom(url, email, network);
        if (status === 202) break;
        refusals += 1;
        await setTimeout(Number(headers.get('retry-after') ?? 1) * 1000);
      }
      const mailed = inbox.waitForMail(email, 1, 240_000);
      const arrived = await mailed.then(() => true).catch(() => false);
      return { seconds: (performance.now() - start) / 1000, refusals, arrived };
    }),
  );
