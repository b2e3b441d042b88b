// Flows per second with a thousand and a million leads, in turns, so other load affects both. Usage: load.ts [leads] [--dry]
import { execFileSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';

import { ENGINES, type Engine } from '#testing/databases.ts';
import { fillHistory, KEPT_FOR_EVER } from '#stress/harness/history.ts';
import { argument, createProof } from '#stress/harness/proof.ts';
import { median } from '#stress/harness/report.ts';
import { LIMITS_OUT_OF_REACH, walkWhile } from '#stress/harness/visitors.ts';

const FEW = 1_000;
const MANY = argument(0, 1_000_000);
const ROUNDS = 9;
const TURN_MS = 6_000;
const VISITORS = 16;
/** Promised share of the speed with few leads. */
const LEAST_RATIO = 0.9;

const proof = createProof('prove:load');
const say = (leads: number): string => leads.toLocaleString('en');
const rows = proof.rows(
  'engine',
  `flows a second with ${say(FEW)} leads`,
  `with ${say(MANY)} leads`,
  'ratio',
);

async function prepare(engine: Engine, leads: number) {
  const site = await proof.prepareSite(engine, {
    env: { ...LIMITS_OUT_OF_REACH, ...KEPT_FOR_EVER, LOG_LEVEL: 'error' },
  });
  await fillHistory({ ...site, engine }, leads);
  // Otherwise these leads would be written to disk during the first minute.
  execFileSync('sync');
  const { url } = await site.start();
  return {
    turn: async (): Promise<number> => {
      const start = performance.now();
      const ledger = await walkWhile({ url, inbox: site.inbox }, VISITORS, () => setTimeout(TURN_MS));
      return ledger.verified.size / ((performance.now() - start) / 1000);
    },
    close: site.close,
  };
}

for (const engine of ENGINES) {
  const few = await prepare(engine, FEW);
  const many = await prepare(engine, MANY);
  const speeds = { few: [] as number[], many: [] as number[] };
  await few.turn();
  await many.turn();
  for (let round = 0; round < ROUNDS; round += 1) {
    speeds.few.push(await few.turn());
    speeds.many.push(await many.turn());
    process.stdout.write(
      `${engine}: ${speeds.few.at(-1)?.toFixed(1)} and ${speeds.many.at(-1)?.toFixed(1)} flows a second\n`,
    );
  }
  const ratio = median(speeds.many) / median(speeds.few);
  rows.add(engine, median(speeds.few).toFixed(0), median(speeds.many).toFixed(0), ratio.toFixed(2));
  proof.expect(
    ratio >= LEAST_RATIO,
    `${engine}: with ${say(MANY)} leads, speed is only ${ratio.toFixed(2)} of that with few`,
  );
  await few.close();
  await many.close();
}
await proof.end(
  `Medians of ${ROUNDS} turns. ${rows.say(`flows a second with ${say(FEW)} leads`, `with ${say(MANY)} leads`)}`,
  rows.table(),
);
