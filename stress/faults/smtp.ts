// Codes while the mail server is down, refuses, hangs or drops connections, and after its recovery.
import { setTimeout } from 'node:timers/promises';

import { API } from '#shared/api.ts';
import { ENGINES, type Engine } from '#testing/databases.ts';
import { smtpError, startInbox, type Inbox, type InboxBehaviour } from '#testing/inbox.ts';
import { filledForm } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { defineCase, type Trial } from '#stress/harness/cases.ts';
import { databaseOf } from '#stress/harness/promises-kept.ts';
import { describeCounts, newLedger, post, walk, WITHOUT_LIMITS } from '#stress/harness/visitors.ts';

const VISITORS = 40;
const RESEND_SECONDS = 5;
const RECOVERED_WITHIN_SECONDS = 120;

const FAULTS: Readonly<Record<string, NonNullable<InboxBehaviour['onMessage']> | null>> = {
  down: null,
  'refuses with 451': () => smtpError(451, 'Try again later'),
  'refuses with 550': () => smtpError(550, 'Policy rejection'),
  'accepts and hangs': () => new Promise<null>(() => {}),
  'drops the line after DATA': () => 'cut off',
};

export const smtp = defineCase({ seconds: 120 }, async (trial, { seconds }) => {
  const rows = trial.rows();
  const faults = Object.keys(FAULTS);
  const all = faults.flatMap((fault) => ENGINES.map((engine) => runWithFault(trial, fault, engine, seconds)));
  for (const row of await Promise.all(all)) rows.add(row);
  return (
    `${faults.length} faults of ${seconds} s on each engine: ${rows.range('forms got 202 meanwhile')} of ${VISITORS} forms got 202, the slowest after ${rows.range('slowest response')}; ` +
    `all codes arrived ${rows.range('until all codes had arrived afterwards')} after the fault; ` +
    `${rows.range('lost')} lost, ${rows.range('mailed twice')} mailed twice`
  );
});

async function runWithFault(trial: Trial, fault: string, engine: Engine, seconds: number) {
  const what = `${fault}, ${engine}`;
  const during = FAULTS[fault] ?? null;
  let faulty = true;
  const behaviour: InboxBehaviour = { onMessage: () => (faulty && during !== null ? during() : null) };
  await using site = await trial.prepareSite(engine, {
    inbox: behaviour,
    env: { ...WITHOUT_LIMITS, LOG_LEVEL: 'silent', RESEND_SECONDS: String(RESEND_SECONDS) },
  });
  const { url } = await site.start();
  if (during === null) await site.inbox.close();

  // A permanently refused mail is not retried, so its visitor requests another, as the code screen suggests.
  const isFinal = fault.includes('550');
  let askedAgain = 0;
  const askAgain = async (email: string, cookie: string) => {
    askedAgain += 1;
    // The code screen offers a resend after its countdown.
    await setTimeout(RESEND_SECONDS * 1000);
    const again = await post(`${url}${API.leads}`, filledForm({ email }), cookie);
    trial.expect(again.status === 202, `${what}, ${email}: asking again got ${again.status}`);
  };
  const ledger = newLedger();
  const recovery = Promise.withResolvers<Inbox>();
  const visits: Promise<void>[] = [];
  for (let count = 0; count < VISITORS; count += 1) {
    const onAccepted = async (email: string, cookie: string) => {
      await recovery.promise;
      if (isFinal) await askAgain(email, cookie);
    };
    const inbox: Pick<Inbox, 'waitForMail'> = {
      waitForMail: async (...mail) => (await recovery.promise).waitForMail(...mail),
    };
    visits.push(walk({ url, inbox, ledger, onAccepted }));
    await setTimeout((seconds * 1000) / VISITORS);
  }
  await until(() => ledger.acknowledged.size === VISITORS).catch(() => {});
  const accepted = ledger.acknowledged.size;
  const slowestMs = Math.max(...ledger.timings.map(({ afterMs }) => afterMs));
  // A busy machine may shed load; its visitors come again.
  const failures = [...ledger.failed.keys()].filter((failure) => failure !== '503 unavailable');
  trial.expect(
    accepted === VISITORS && failures.length === 0,
    `${what}: ${accepted} of ${VISITORS} forms got 202; failed: ${describeCounts(ledger.failed)}`,
  );

  faulty = false;
  await using inbox = during === null ? await startInbox(behaviour, site.inbox.port) : site.inbox;
  const recoveryStart = performance.now();
  recovery.resolve(inbox);
  await Promise.all(visits);
  const recovered = (performance.now() - recoveryStart) / 1000;
  trial.expect(recovered <= RECOVERED_WITHIN_SECONDS, `${what}: the last code arrived after ${recovered} s`);
  await walk({ url, inbox, ledger });

  const account = await trial.expectKept(what, { ...site, inbox }, ledger);
  await using database = databaseOf(site);
  const failed = await database.db
    .selectFrom('outbox')
    .select('reply')
    .where('state', '=', 'failed')
    .execute();
  trial.expect(
    !isFinal || failed.every(({ reply }) => reply?.includes('Policy rejection')),
    `${what}: the reason of a refusal was not stored`,
  );
  for (const [email, why] of ledger.unverified) trial.expect(false, `${what}, ${email}: ${why}`);
  return {
    'the mail server': fault,
    engine,
    'forms got 202 meanwhile': accepted,
    'slowest response': `${slowestMs} ms`,
    'until all codes had arrived afterwards': `${recovered.toFixed(0)} s`,
    'had to ask again': askedAgain,
    'mailed twice': account.duplicates,
    lost: account.lost,
    'became leads': `${ledger.verified.size} of ${VISITORS + 1}`,
  };
}
