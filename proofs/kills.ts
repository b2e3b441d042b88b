// A server under a load of whole flows that is killed with SIGKILL at random moments, again and again, and started again at once.
import { mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import type { Engine } from '#testing/databases.ts';
import { startInbox, type Inbox } from '#testing/inbox.ts';
import type { PostgresServer } from '#testing/postgres-server.ts';
import { siteDatabaseUrl, siteSettings, startSiteProcess, type SiteProcess } from '#testing/start-site.ts';
import { keepWalking, newLedger, WITHOUT_LIMITS, type Ledger } from '#proofs/visitors.ts';

const VISITORS = 12;
/** The moment of the kill after the server said it was ready: from at once to well into its work. */
const LONGEST_LIFE_MS = 1_200;
/** SMTP servers take a while; so a kill often finds mail in hand. */
const SMTP_DELAY_MS = 20;

/** What is left: the server of the last start still runs. */
export type Survivors = {
  readonly server: SiteProcess;
  readonly inbox: Inbox;
  readonly ledger: Ledger;
  readonly databaseUrl: string;
  /** Where its data/ is. For whoever asked to remove. */
  readonly folder: string;
};

/**
 * Does so.
 * @param options env: settings beyond the usual. onVerified: what somebody does who was let in
 * @returns when the last visitor has finished
 */
export async function walkUnderKills(
  engine: Engine,
  {
    kills,
    postgres,
    env: more = {},
    onVerified,
  }: {
    kills: number;
    postgres: PostgresServer;
    env?: Readonly<Record<string, string>>;
    onVerified?: (url: string, cookie: string) => Promise<void>;
  },
): Promise<Survivors> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'crash-'));
  const inbox = await startInbox({
    onMessage: async () => {
      await setTimeout(Math.random() * 2 * SMTP_DELAY_MS);
      return null;
    },
  });
  const databaseUrl = await siteDatabaseUrl(engine, postgres.url);
  const env = { ...WITHOUT_LIMITS, ...siteSettings(databaseUrl, inbox), ...more };
  let server = await startSiteProcess(env, folder);
  const { port, url } = server;
  const ledger = newLedger();
  const enough = new AbortController();
  const traffic = keepWalking(
    { url, inbox, ledger, onVerified: onVerified && ((cookie) => onVerified(url, cookie)) },
    VISITORS,
    enough.signal,
  );
  for (let kill = 1; kill <= kills; kill += 1) {
    await setTimeout(Math.random() * LONGEST_LIFE_MS);
    await server.stop('SIGKILL');
    server = await startSiteProcess({ ...env, PORT: String(port) }, folder);
    if (kill % 20 === 0) {
      process.stdout.write(`${engine}: ${kill} kills, ${ledger.acknowledged.size} acknowledged\n`);
    }
  }
  enough.abort();
  await traffic;
  return { server, inbox, ledger, databaseUrl, folder };
}
