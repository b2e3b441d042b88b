import assert from 'node:assert/strict';

import { readConfig } from '#server/settings/settings.ts';
import { examineBackup, examineFiles, examineSecret } from '#desk/doctor/data-folder.ts';
import { examineClock, examineDamage, examineDatabase } from '#desk/doctor/database.ts';
import type { DoctorTarget } from '#desk/doctor/doctor.ts';
import type { Findings } from '#desk/doctor/finding.ts';
import type { Finding } from '#desk/endpoints/figures.ts';
import { examinePage } from '#desk/doctor/page.ts';
import { readDatabaseState } from '#server/db/health.ts';
import type { Settings } from '#server/settings/env-file.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { createPostgresDatabase, type Engine } from '#testing/databases.ts';
import { runDeskWith, type CommandResult } from '#testing/desk.ts';
import { startDnsServer, type NameRecords } from '#testing/dns-server.ts';
import { inFolder } from '#testing/folder.ts';
import { startInbox, type Inbox } from '#testing/inbox.ts';
import { openTestService } from '#testing/open-test-service.ts';
import { TEST_SECRET } from '#testing/server-under-test.ts';

export const NOW = Date.UTC(2026, 10, 20, 12);

const HEALTHY: Readonly<Record<string, NameRecords>> = {
  'example.com': { TXT: ['v=spf1 mx -all'], MX: [[10, 'mail.example.com']] },
  'mail.example.com': { A: ['93.184.215.14'] },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject'] },
};

type Instance = {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly inbox: Inbox;
  readonly dnsServers: readonly string[];
};

export async function withInstance(
  { engine, zone = HEALTHY }: { engine: Engine; zone?: Readonly<Record<string, NameRecords>> },
  test: (instance: Instance) => Promise<void>,
): Promise<void> {
  await inFolder(async (folder) => {
    await using inbox = await startInbox();
    await using dns = await startDnsServer(zone);
    const env = {
      DATABASE_URL: engine === 'sqlite' ? 'file:./data/leads.db' : await createPostgresDatabase(),
      SMTP_URL: inbox.url,
      MAIL_FROM: 'Guide <guide@example.com>',
      PUBLIC_URL: 'https://localhost:8443',
      APP_SECRET: TEST_SECRET,
      PORT: '0',
    };
    const service = await openTestService(folder, env, { clock: () => NOW });
    await service.close();
    await test({ folder, env, inbox, dnsServers: [dns.address] });
  });
}

export const doctor = (
  doctorTarget: Pick<DoctorTarget, 'settings' | 'campaignFolder' | 'dnsServers'>,
  args: readonly string[] = [],
  now = NOW,
): Promise<CommandResult> =>
  runDeskWith(
    () => ({
      service: () => assert.fail('the doctor does without the service'),
      clock: () => now,
      timeZone: () => 'UTC',
      doctorTarget,
    }),
    ['doctor', ...args],
  );

export const doctorTargetOf = (
  { folder, dnsServers }: Pick<Instance, 'folder' | 'dnsServers'>,
  env: Readonly<Record<string, string>>,
  campaignFolder = TEST_CAMPAIGN,
): Pick<DoctorTarget, 'settings' | 'campaignFolder' | 'dnsServers'> => {
  const read = readConfig(env, folder);
  return {
    settings:
      read.type === 'config'
        ? { type: 'settings', config: read.config, folder, warnings: read.warnings }
        : { type: 'mistakes', mistakes: [...read.mistakes] },
    campaignFolder,
    dnsServers,
  };
};

type Circumstances = { readonly env?: Readonly<Record<string, string>>; readonly now?: number };

export async function findingsIn(
  instance: Instance,
  { env = {}, now = NOW }: Circumstances = {},
): Promise<readonly Finding[]> {
  const { out } = await doctor(doctorTargetOf(instance, { ...instance.env, ...env }), ['--json'], now);
  return (JSON.parse(out) as { findings: Finding[] }).findings;
}

type OfflineCheck = (settings: Settings, now: number) => Promise<Findings>;

/** Checks that need neither a mail server nor DNS. */
const OFFLINE_CHECKS: Readonly<Record<string, OfflineCheck>> = {
  page: ({ config }) => examinePage(config, new AbortController().signal),
  database: async ({ config: { database } }) => {
    const { findings, state } = await examineDatabase(database);
    const damage = state !== null && database.engine === 'sqlite' ? await examineDamage(database.file) : [];
    return [...findings, ...[damage].flat()];
  },
  clock: async ({ config }, now) => examineClock(await readDatabaseState(config.database), now),
  secret: async ({ config, folder }) =>
    examineSecret(config, { folder, state: await readDatabaseState(config.database) }),
  files: async ({ config, folder }) => examineFiles(config, folder),
  backup: ({ config, folder }, now) => examineBackup(config.database, { folder, now }),
};

/** Returns each finding as its state and its sentence, such as "ok: The newest backup is 2 days old." */
export async function findingsAbout(
  check: string,
  instance: Instance,
  { env = {}, now = NOW }: Circumstances = {},
): Promise<readonly string[]> {
  const { settings } = doctorTargetOf(instance, { ...instance.env, ...env });
  const offlineCheck = OFFLINE_CHECKS[check];
  const found =
    offlineCheck !== undefined && settings.type === 'settings'
      ? [await offlineCheck(settings, now)].flat()
      : (await findingsIn(instance, { env, now })).filter((finding) => finding.check === check);
  return found.map(({ state, sentence }) => `${state}: ${sentence}`);
}
