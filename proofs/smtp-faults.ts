// What happens to codes while the mail server is away, refuses, hangs or drops the line: on both engines, all at once, for
// as long as given. Then the mail server is well again, and nobody restarts anything. Usage: smtp-faults.ts [seconds]
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { API } from '#shared/api.ts';
import { ENGINES, type Engine } from '#testing/databases.ts';
import { codeIn, startInbox, type InboxBehaviour } from '#testing/inbox.ts';
import { startPostgres } from '#testing/postgres-server.ts';
import { filledForm } from '#testing/server-under-test.ts';
import { siteDatabaseUrl, siteSettings, startSiteProcess } from '#testing/start-site.ts';
import { measuredOn, table, writeReport } from '#proofs/report.ts';
import { conclude, databaseOf, settle } from '#proofs/verdict.ts';
import { newAddress, newLedger, post, walk, WITHOUT_LIMITS } from '#proofs/visitors.ts';

const SECONDS = Number(process.argv[2] ?? 120);
/** Asked at a steady pace while the fault lasts. */
const VISITORS = 40;
const RESEND_SECONDS = 5;

type Fault = { readonly name: string; readonly while: 'down' | NonNullable<InboxBehaviour['onMessage']> };

const smtpError = (message: string, responseCode: number): Error =>
  Object.assign(new Error(message), { responseCode });

const FAULTS: readonly Fault[] = [
  { name: 'down', while: 'down' },
  { name: 'refuses with 451', while: () => smtpError('Try again later', 451) },
  { name: 'refuses with 550', while: () => smtpError('Policy rejection', 550) },
  { name: 'accepts and hangs', while: () => new Promise<null>(() => {}) },
  { name: 'drops the line after DATA', while: () => 'cut off' },
];

const rows: (string | number)[][] = [];
const broken: string[] = [];
const postgres = await startPostgres();

async function suffer(fault: Fault, engine: Engine): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'smtp-faults-'));
  let faulty = true;
  const behaviour: InboxBehaviour = {
    onMessage: () => (faulty && fault.while !== 'down' ? fault.while() : null),
  };
  let inbox = await startInbox(behaviour);
  const databaseUrl = await siteDatabaseUrl(engine, postgres.url);
  const server = await startSiteProcess(
    {
      ...WITHOUT_LIMITS,
      LOG_LEVEL: 'silent',
      RESEND_SECONDS: String(RESEND_SECONDS),
      ...siteSettings(databaseUrl, inbox),
    },
    folder,
  );
  const { url } = server;
  const { port } = inbox;
  if (fault.while === 'down') await inbox.close();

  // Everybody is acknowledged, whatever the mail server does.
  const asked: { email: string; cookie: string }[] = [];
  let slowest = 0;
  for (let count = 0; count < VISITORS; count += 1) {
    const email = newAddress();
    const start = performance.now();
    const answer = await post(`${url}${API.leads}`, filledForm({ email }));
    slowest = Math.max(slowest, performance.now() - start);
    if (answer.status !== 202)
      broken.push(
        `${fault.name}, ${engine}: the form was answered ${answer.status} ${answer.headers.get('x-error-code')}`,
      );
    asked.push({ email, cookie: answer.cookie });
    await setTimeout((SECONDS * 1000) / VISITORS);
  }

  faulty = false;
  if (fault.while === 'down') inbox = await startInbox(behaviour, port);
  const wellAgain = performance.now();
  const ledger = newLedger();
  // A refusal for good is final for that mail; its visitor asks again, as the spam hint on the code screen suggests.
  const final = fault.name.includes('550');
  let asksAgain = 0;
  await Promise.all(
    asked.map(async ({ email, cookie }) => {
      ledger.acknowledged.add(email);
      try {
        if (final) {
          asksAgain += 1;
          // The code screen offers it when its countdown has run out.
          await setTimeout(RESEND_SECONDS * 1000);
          const again = await post(`${url}${API.leads}`, filledForm({ email }), cookie);
          if (again.status !== 202) throw new Error(`asking again: ${again.status}`);
        }
        const code = codeIn(await inbox.waitForMail(email, 1, 120_000));
        const verified = await post(`${url}${API.verify}`, { email, code }, cookie);
        if (verified.status === 200) ledger.verified.add(email);
        else ledger.unverified.set(email, `${verified.status}: ${verified.body}`);
      } catch (error) {
        ledger.unmailed.add(email);
        broken.push(`${fault.name}, ${engine}, ${email}: ${String(error)}`);
      }
    }),
  );
  const recovered = (performance.now() - wellAgain) / 1000;
  // And the page works as if nothing had been.
  await walk({ url, inbox, ledger }, new AbortController().signal);

  const account = await settle({ databaseUrl, folder }, inbox, ledger);
  const { db, close } = databaseOf({ databaseUrl, folder });
  const failed = await db.selectFrom('outbox').select('reply').where('state', '=', 'failed').execute();
  await close();
  if (final && !failed.every(({ reply }) => reply?.includes('Policy rejection'))) {
    broken.push(`${fault.name}, ${engine}: the reason of a refusal was not kept`);
  }
  for (const [email, why] of ledger.unverified) broken.push(`${fault.name}, ${engine}, ${email}: ${why}`);
  rows.push([
    fault.name,
    engine,
    asked.length,
    `${slowest.toFixed(0)} ms`,
    `${recovered.toFixed(0)} s`,
    asksAgain,
    account.duplicates,
    account.lostMails + account.lostLeads + account.falseSuccesses,
    `${ledger.verified.size} of ${asked.length + 1}`,
  ]);
  process.stdout.write(`${rows.at(-1)?.join(' | ')}\n`);
  await server.stop();
  await inbox.close();
  rmSync(folder, { recursive: true });
}

await Promise.all(FAULTS.flatMap((fault) => ENGINES.map((engine) => suffer(fault, engine))));
await postgres.stop();
await writeReport(
  'reliability.md',
  'smtp',
  `${measuredOn()} Each fault lasted ${SECONDS} s.\n\n${table(
    [
      'the mail server',
      'engine',
      'forms answered 202 meanwhile',
      'slowest answer',
      'until all codes had arrived afterwards',
      'had to ask again',
      'mailed twice',
      'lost',
      'became leads',
    ],
    rows.toSorted((a, b) => String(a[0]).localeCompare(String(b[0]))),
  )}`,
);
conclude(broken);
// An SMTP connection that hangs on purpose would keep this process alive.
process.exit();
