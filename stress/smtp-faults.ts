// Codes while the mail server is down, refuses, hangs or drops connections, and after its recovery. Usage: smtp-faults.ts [seconds] [--dry]
import { setTimeout } from 'node:timers/promises';

import { API } from '#shared/api.ts';
import { ENGINES, type Engine } from '#testing/databases.ts';
import { codeIn, startInbox, type InboxBehaviour } from '#testing/inbox.ts';
import { filledForm } from '#testing/server-under-test.ts';
import { databaseOf, lostIn } from '#stress/harness/promises-kept.ts';
import { argument, createProof } from '#stress/harness/proof.ts';
import { newAddress, newLedger, post, walk, WITHOUT_LIMITS } from '#stress/harness/visitors.ts';

const SECONDS = argument(0, 120);
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

const proof = createProof('prove:smtp');
const rows = proof.rows(
  'the mail server',
  'engine',
  'forms answered 202 meanwhile',
  'slowest answer',
  'until all codes had arrived afterwards',
  'had to ask again',
  'mailed twice',
  'lost',
  'became leads',
);

async function suffer(fault: Fault, engine: Engine): Promise<void> {
  const what = `${fault.name}, ${engine}`;
  let faulty = true;
  const behaviour: InboxBehaviour = {
    onMessage: () => (faulty && fault.while !== 'down' ? fault.while() : null),
  };
  const site = await proof.prepareSite(engine, {
    inbox: behaviour,
    env: { ...WITHOUT_LIMITS, LOG_LEVEL: 'silent', RESEND_SECONDS: String(RESEND_SECONDS) },
  });
  const { url } = await site.start();
  if (fault.while === 'down') await site.inbox.close();

  const asked: { email: string; cookie: string }[] = [];
  let slowest = 0;
  let accepted = 0;
  for (let count = 0; count < VISITORS; count += 1) {
    const email = newAddress();
    const start = performance.now();
    const answer = await post(`${url}${API.leads}`, filledForm({ email }));
    slowest = Math.max(slowest, performance.now() - start);
    proof.expect(
      answer.status === 202,
      `${what}: the form got ${answer.status} ${answer.headers.get('x-error-code')}`,
    );
    if (answer.status === 202) accepted += 1;
    asked.push({ email, cookie: answer.cookie });
    await setTimeout((SECONDS * 1000) / VISITORS);
  }

  faulty = false;
  const inbox = fault.while === 'down' ? await startInbox(behaviour, site.inbox.port) : site.inbox;
  const wellAgain = performance.now();
  const ledger = newLedger();
  // A permanently refused mail is not retried, so its visitor requests another, as the code screen suggests.
  const final = fault.name.includes('550');
  let asksAgain = 0;
  await Promise.all(
    asked.map(async ({ email, cookie }) => {
      ledger.acknowledged.add(email);
      try {
        if (final) {
          asksAgain += 1;
          // The code screen offers a resend after its countdown.
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
        proof.expect(false, `${what}, ${email}: ${String(error)}`);
      }
    }),
  );
  const recovered = (performance.now() - wellAgain) / 1000;
  await walk({ url, inbox, ledger }, new AbortController().signal);

  const account = await proof.expectKept(what, { ...site, inbox }, ledger);
  const { db, close } = databaseOf(site);
  const failed = await db.selectFrom('outbox').select('reply').where('state', '=', 'failed').execute();
  await close();
  proof.expect(
    !final || failed.every(({ reply }) => reply?.includes('Policy rejection')),
    `${what}: the reason of a refusal was not stored`,
  );
  for (const [email, why] of ledger.unverified) proof.expect(false, `${what}, ${email}: ${why}`);
  rows.add(
    fault.name,
    engine,
    accepted,
    `${slowest.toFixed(0)} ms`,
    `${recovered.toFixed(0)} s`,
    asksAgain,
    account.duplicates,
    lostIn(account),
    `${ledger.verified.size} of ${asked.length + 1}`,
  );
  await inbox.close();
  await site.close();
}

await Promise.all(FAULTS.flatMap((fault) => ENGINES.map((engine) => suffer(fault, engine))));
await proof.end(
  `${FAULTS.length} faults of ${SECONDS} s on each engine: ${rows.range('forms answered 202 meanwhile')} of ${VISITORS} forms answered 202, the slowest after ${rows.range('slowest answer')}; ` +
    `all codes arrived ${rows.range('until all codes had arrived afterwards')} after the fault; ` +
    `${rows.range('lost')} lost, ${rows.range('mailed twice')} mailed twice`,
  rows.table('sorted'),
);
// A connection that hangs on purpose would keep this process alive.
process.exit();
