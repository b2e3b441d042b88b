// Kills the server under load: every 202 must lead to a mailed code, and every code to a lead. Usage: crash.ts [kills] [--dry]
import { ENGINES } from '#testing/databases.ts';
import { lostIn } from '#stress/harness/promises-kept.ts';
import { argument, createProof } from '#stress/harness/proof.ts';
import { walkUnderKills } from '#stress/harness/walk-under-kills.ts';

const KILLS = argument(0, 200);

const proof = createProof('prove:crash');
const rows = proof.rows(
  'engine',
  'SIGKILLs',
  'requests cut off',
  'forms answered 202',
  'codes lost',
  'codes mailed twice',
  'leads answered 200',
  'leads whose answer was cut off',
  'leads lost',
);
for (const engine of ENGINES) {
  const { site, server, ledger } = await walkUnderKills(proof, engine, { kills: KILLS });
  await server.stop();
  const account = await proof.expectKept(engine, site, ledger);
  rows.add(
    engine,
    KILLS,
    ledger.answers.get('no answer') ?? 0,
    ledger.acknowledged.size,
    account.lostMails,
    account.duplicates,
    ledger.verified.size,
    account.unheardSuccesses,
    lostIn(account) - account.lostMails + account.withoutReceipt,
  );
  await site.close();
}
await proof.end(
  `${KILLS} kills each. ${rows.say('requests cut off', 'leads answered 200', 'codes lost', 'codes mailed twice', 'leads lost')}`,
  rows.table(),
);
