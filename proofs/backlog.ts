// What happens to codes when the mail server takes fewer than are asked for, and when it falls silent at some recipients:
// on both engines, all at once. Whoever is answered 202 gets a code in time, whoever comes later is not made to wait for a
// stranger's burst, and whoever cannot be served is told so. Usage: backlog.ts
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { API } from '#shared/api.ts';
import { ENGINES, type Engine } from '#testing/databases.ts';
import { codeIn, startInbox, type Inbox, type InboxBehaviour } from '#testing/inbox.ts';
import { startPostgres } from '#testing/postgres-server.ts';
import { filledForm } from '#testing/server-under-test.ts';
import { siteDatabaseUrl, siteSettings, startSiteProcess } from '#testing/start-site.ts';
import { measuredOn, table, writeReport } from '#proofs/report.ts';
import { conclude } from '#proofs/verdict.ts';
import { post, WITHOUT_LIMITS, type Answer } from '#proofs/visitors.ts';

const BURST = 400;
const MAILS_A_SECOND = 5;
/** Short, so that a burst of this size is more than can be mailed in a code's life. */
const SHORT_TTL_SECONDS = 60;
const SILENT_FORMS = 100;
const HONEST_VISITORS = 10;
const HONEST_EVERY_MS = 1_000;
/** How long an honest visitor may wait for a code: the button's "Sending Code..." and a moment. */
const HONEST_PATIENCE_SECONDS = 5;
const HEALTH_EVERY_MS = 250;
const AGAIN_AFTER_MS = 200;

type Burst = 'one network' | 'a network each';

const broken: string[] = [];
const slowRows: (string | number)[][] = [];
const silentRows: (string | number)[][] = [];
const postgres = await startPostgres();

let visitors = 0;
/** A network nobody came from before. */
const newNetwork = (): string => {
  visitors += 1;
  return `10.${(visitors >> 16) & 255}.${(visitors >> 8) & 255}.${visitors & 255}`;
};
const newEmail = (domain: string): string => `visitor-${(visitors += 1)}@${domain}`;

/** A busy machine sheds load, which is not what is measured here. */
async function insist(...request: Parameters<typeof post>): Promise<Answer> {
  for (;;) {
    const answer = await post(...request);
    if (answer.headers.get('x-error-code') !== 'unavailable') return answer;
    await setTimeout(AGAIN_AFTER_MS);
  }
}

/** A mail server that takes one mail after the other, so many a second. */
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

async function withSite(
  { engine, behaviour, env }: { engine: Engine; behaviour: InboxBehaviour; env: Record<string, string> },
  meet: (url: string, inbox: Inbox, healths: readonly number[]) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'backlog-'));
  const inbox = await startInbox(behaviour);
  const server = await startSiteProcess(
    {
      ...WITHOUT_LIMITS,
      LOG_LEVEL: 'silent',
      TRUST_PROXY: '1',
      ...siteSettings(await siteDatabaseUrl(engine, postgres.url), inbox),
      ...env,
    },
    folder,
  );
  const healths: number[] = [];
  const monitor = setInterval(() => {
    fetch(`${server.url}${API.health}`).then(
      ({ status }) => healths.push(status),
      () => {},
    );
  }, HEALTH_EVERY_MS);
  await meet(server.url, inbox, healths);
  clearInterval(monitor);
  await server.stop();
  rmSync(folder, { recursive: true });
}

/** Comes with an address at a domain of their own, as often as told, until there is a code. Returns the seconds. */
async function comeHonestly(
  url: string,
  inbox: Inbox,
): Promise<{ seconds: number; refusals: number; arrived: boolean }> {
  const start = performance.now();
  const from = newNetwork();
  const email = newEmail(`honest-${visitors}.example`);
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

/** So many, one after the other, whoever else waits. */
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

const seen = (healths: readonly number[]): string => [...new Set(healths)].sort().join(', ');

/** More forms at once than can be mailed while a code lives. */
const beFlooded = (engine: Engine, burst: Burst) =>
  withSite(
    {
      engine,
      behaviour: slowly(MAILS_A_SECOND),
      env: { CODE_TTL_SECONDS: String(SHORT_TTL_SECONDS) },
    },
    async (url, inbox, healths) => {
      const what = `${BURST} forms from ${burst}, ${engine}`;
      const one = newNetwork();
      const forms = Array.from({ length: BURST }, async () => {
        const email = newEmail('example.com');
        const from = burst === 'one network' ? one : newNetwork();
        return { email, answer: await insist(`${url}${API.leads}`, filledForm({ email }), '', from) };
      });
      // Visitors of their own come while the burst is being mailed.
      await setTimeout(HONEST_EVERY_MS);
      const honest = comeOneByOne(url, inbox);
      const asked = await Promise.all(forms);
      const taken = asked.filter(({ answer }) => answer.status === 202);
      const refused = asked.filter(({ answer }) => answer.status === 503);
      for (const { answer } of asked) {
        const told =
          answer.status === 202 ||
          (answer.status === 503 &&
            answer.headers.get('x-error-code') === 'mail-backlog' &&
            Number(answer.headers.get('retry-after')) > 0);
        if (!told) broken.push(`${what}: answered ${answer.status}: ${answer.body}`);
      }
      let unmailed = 0;
      let useless = 0;
      await Promise.all(
        taken.map(async ({ email, answer }) => {
          let code: string;
          try {
            code = codeIn(await inbox.waitForMail(email, 1, 2 * SHORT_TTL_SECONDS * 1000));
          } catch {
            unmailed += 1;
            return;
          }
          const verified = await insist(`${url}${API.verify}`, { email, code }, answer.cookie);
          if (verified.status !== 200) {
            useless += 1;
            broken.push(`${what}: the code was answered ${verified.status}: ${verified.body}`);
          }
        }),
      );
      const visits = await honest;
      slowRows.push([
        burst,
        engine,
        taken.length,
        refused.length,
        unmailed,
        useless,
        `${visits.longest.toFixed(1)} s`,
        visits.refusals,
        seen(healths),
      ]);
      process.stdout.write(`slow | ${slowRows.at(-1)?.join(' | ')}\n`);
      if (unmailed + useless + visits.missing > 0) broken.push(`${what}: a 202 was not kept`);
      if (refused.length > 0 && !healths.includes(503)) broken.push(`${what}: health did not tell`);
      if (burst === 'one network' && (visits.longest > HONEST_PATIENCE_SECONDS || visits.refusals > 0)) {
        broken.push(`${what}: others waited ${visits.longest.toFixed(1)} s`);
      }
    },
  );

/** Forms whose mail gets no answer to its RCPT. */
const meetSilence = (engine: Engine, burst: Burst) =>
  withSite(
    {
      engine,
      behaviour: {
        onRecipient: (address) => (address.endsWith('silent.example') ? new Promise<null>(() => {}) : null),
      },
      env: {},
    },
    async (url, inbox, healths) => {
      const one = newNetwork();
      const statuses = await Promise.all(
        Array.from({ length: SILENT_FORMS }, async () => {
          const [from, domain] =
            burst === 'one network'
              ? [one, `domain-${(visitors += 1)}.silent.example`]
              : [newNetwork(), 'silent.example'];
          const body = filledForm({ email: newEmail(domain) });
          return (await insist(`${url}${API.leads}`, body, '', from)).status;
        }),
      );
      await setTimeout(HONEST_EVERY_MS);
      const visits = await comeOneByOne(url, inbox);
      silentRows.push([
        burst === 'one network' ? 'one network, a domain each' : 'a network each, one domain',
        engine,
        statuses.filter((status) => status === 202).length,
        `${visits.longest.toFixed(1)} s`,
        visits.refusals,
        visits.missing,
        seen(healths),
      ]);
      process.stdout.write(`silent | ${silentRows.at(-1)?.join(' | ')}\n`);
      if (visits.longest > HONEST_PATIENCE_SECONDS || visits.refusals + visits.missing > 0) {
        broken.push(`silence, ${burst}, ${engine}: others waited ${visits.longest.toFixed(1)} s`);
      }
      if (healths.some((status) => status !== 200)) broken.push(`silence, ${burst}, ${engine}: health 503`);
    },
  );

for (const burst of ['one network', 'a network each'] as const) {
  await Promise.all(ENGINES.map((engine) => beFlooded(engine, burst)));
  await Promise.all(ENGINES.map((engine) => meetSilence(engine, burst)));
}
await postgres.stop();
const byText = (a: readonly unknown[], b: readonly unknown[]): number => a.join().localeCompare(b.join());
await writeReport(
  'reliability.md',
  'backlog',
  `${measuredOn()}\n\n${table(
    [
      `${BURST} forms at once, ${MAILS_A_SECOND} mails a second, codes live ${SHORT_TTL_SECONDS} s`,
      'engine',
      'answered 202',
      'answered 503',
      'of the 202 never mailed',
      'of the 202 mailed and not accepted',
      'longest wait of others',
      'others answered 503 first',
      'health',
    ],
    slowRows.toSorted(byText),
  )}\n\n${table(
    [
      `${SILENT_FORMS} forms to which the mail server says nothing`,
      'engine',
      'answered 202',
      'longest wait of others',
      'others answered 503',
      'others without a code',
      'health',
    ],
    silentRows.toSorted(byText),
  )}`,
);
conclude(broken);
// An SMTP connection that hangs on purpose would keep this process alive.
process.exit();
