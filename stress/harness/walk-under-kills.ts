import { setTimeout } from 'node:timers/promises';

import type { Engine } from '#testing/databases.ts';
import type { PreparedSite, SiteProcess } from '#testing/start-site.ts';
import type { Proof } from '#stress/harness/proof.ts';
import { walkWhile, WITHOUT_LIMITS, type Ledger } from '#stress/harness/visitors.ts';

const VISITORS = 12;
const LONGEST_LIFE_MS = 1_200;
/** Mean delay of the mail server, so kills often interrupt mail. */
const SMTP_DELAY_MS = 20;

export type Survivors = {
  readonly site: PreparedSite;
  readonly server: SiteProcess;
  readonly ledger: Ledger;
};

export async function walkUnderKills(
  { prepareSite }: Proof,
  engine: Engine,
  {
    kills,
    env,
    onVerified,
  }: {
    kills: number;
    env?: Readonly<Record<string, string>>;
    onVerified?: (url: string, cookie: string) => Promise<void>;
  },
): Promise<Survivors> {
  const site = await prepareSite(engine, {
    env: { ...WITHOUT_LIMITS, ...env },
    inbox: { onMessage: () => setTimeout(Math.random() * 2 * SMTP_DELAY_MS, null) },
  });
  let server = await site.start();
  const { url, port } = server;
  const walkers = {
    url,
    inbox: site.inbox,
    onVerified: onVerified && ((cookie: string) => onVerified(url, cookie)),
  };
  const ledger = await walkWhile(walkers, VISITORS, async ({ acknowledged }) => {
    for (let kill = 1; kill <= kills; kill += 1) {
      await setTimeout(Math.random() * LONGEST_LIFE_MS);
      await server.stop('SIGKILL');
      server = await site.start({ PORT: String(port) });
      if (kill % 20 === 0)
        process.stdout.write(`${engine}: ${kill} kills, ${acknowledged.size} acknowledged\n`);
    }
  });
  return { site, server, ledger };
}
