// The whole server in this process with a test clock and a real SMTP server. Requests use Fastify's inject.
import assert from 'node:assert/strict';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';

import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';

import { buildApp, type AppOptions } from '#server/startup/app.ts';
import type { Config } from '#server/settings/settings.ts';
import type { Campaign } from '#server/campaign/campaign.ts';
import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { countRows, hasRow } from '#server/db/engine/row-counts.ts';
import type { Schema } from '#server/db/all-tables.ts';
import type { LoadLimits } from '#server/http/load-shedding.ts';
import { newestRelease } from '#server/http/releases.ts';
import type { MailEvent } from '#server/mail/mail-worker.ts';
import { createLogger } from '#server/log/logger.ts';
import type { Metrics } from '#server/log/metrics.ts';
import type { Service } from '#server/startup/service.ts';
import type { WebhookOutcome } from '#server/webhooks/webhook-worker.ts';
import { copyCampaign, type Changes } from '#testing/campaign-copy.ts';
import { freshDatabaseUrl, releaseDatabase, type Engine } from '#testing/databases.ts';
import { inFolder } from '#testing/folder.ts';
import { startInbox, type Inbox, type InboxBehaviour } from '#testing/inbox.ts';
import { openTestService } from '#testing/open-test-service.ts';
import { until } from '#testing/until.ts';

export const TEST_SECRET = 'a-secret-for-tests-only-0123456789abcdef';

export type ServerUnderTest = {
  readonly service: Service;
  readonly app: FastifyInstance;
  readonly config: Config;
  readonly campaign: Campaign;
  readonly database: OpenDatabase;
  readonly inbox: Inbox;
  readonly mailEvents: readonly MailEvent[];
  readonly webhookOutcomes: readonly WebhookOutcome[];
  readonly breakerReasons: readonly string[];
  readonly metrics: Metrics;
  readonly logLines: readonly string[];
  /** Waits until no mail or webhook is being sent, because its lease would seem expired, and moves the clock. */
  readonly advance: (seconds: number) => Promise<void>;
  readonly now: () => number;
  readonly setClock: (to: number) => void;
  readonly wakeWorker: () => void;
  readonly countRows: (table: keyof Schema) => Promise<number>;
  /** @param name with labels, as Prometheus reads it; 0 if absent */
  readonly metric: (name: string) => Promise<number>;
  /** Opens a port of this machine. */
  readonly listen: () => Promise<URL>;
  readonly untilDisconnected: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export type ServerOptions = {
  readonly engine: Engine;
  readonly env?: Readonly<Record<string, string>>;
  /** Files that differ from those of the test campaign. */
  readonly campaign?: Changes;
  readonly inbox?: InboxBehaviour;
  /** dist/ of a built site; if absent, only the API is served. */
  readonly siteFolder?: string;
  readonly loadLimits?: Partial<LoadLimits>;
  /** By default a new database. It is always closed with the server. */
  readonly database?: OpenDatabase;
} & Partial<Pick<AppOptions, 'connectionLimits' | 'isStopping' | 'fetch'>>;

const SENT_WITHIN_MS = 60_000;

async function startServer({
  engine,
  env = {},
  inbox: behaviour,
  siteFolder,
  loadLimits,
  database: givenDatabase,
  ...appOptions
}: Omit<ServerOptions, 'campaign'>): Promise<ServerUnderTest> {
  // Comes first, so a run without the tests' PostgreSQL reports that and exits.
  const databaseUrl = givenDatabase ? 'file::memory:' : await freshDatabaseUrl(engine);
  const inbox = await startInbox(behaviour);
  let now = Date.UTC(2026, 10, 20, 12);
  const clock = () => now;
  const logLines: string[] = [];
  const mailEvents: MailEvent[] = [];
  const webhookOutcomes: WebhookOutcome[] = [];
  const breakerReasons: string[] = [];
  const service = await openTestService(
    path.join(os.tmpdir(), 'no-such-instance'),
    {
      APP_SECRET: TEST_SECRET,
      DATABASE_URL: databaseUrl,
      SMTP_URL: inbox.url,
      MAIL_FROM: 'Guide <guide@example.com>',
      ...env,
    },
    {
      clock,
      random: () => 0.5,
      logger: createLogger('debug', { write: (line: string) => void logLines.push(line) }),
      database: givenDatabase,
    },
  );
  const { config, campaign, database, metrics } = service;
  const { mail, webhook, breakerOpened } = metrics;
  Object.assign(metrics, {
    mail: (event: MailEvent) => {
      mail(event);
      mailEvents.push(event);
    },
    webhook: (outcome: WebhookOutcome) => {
      webhook(outcome);
      webhookOutcomes.push(outcome);
    },
    breakerOpened: (reason: string) => {
      breakerOpened(reason);
      breakerReasons.push(reason);
    },
  });
  service.startSending();
  const app = await buildApp(service, {
    release: siteFolder === undefined ? null : newestRelease(siteFolder),
    isStopping: () => false,
    // Tests share two cores, so event loop delay must not count.
    loadLimits: { maxPending: 1_000, maxEventLoopDelayMs: 0, ...loadLimits },
    ...appOptions,
  });
  await app.ready();

  return {
    service,
    app,
    config,
    campaign,
    database,
    inbox,
    mailEvents,
    webhookOutcomes,
    breakerReasons,
    metrics,
    logLines,
    advance: async (seconds) => {
      await until(async () => !(await isMailPending(database.db, now)), SENT_WITHIN_MS);
      if (config.webhooks.urls.length > 0)
        await until(async () => !(await isEventPending(database.db, now)), SENT_WITHIN_MS);
      now += seconds * 1000;
    },
    now: clock,
    setClock: (to) => {
      now = to;
    },
    wakeWorker: service.mail.wake,
    countRows: (table) => countRows(database.db.selectFrom(table)),
    metric: async (name) => {
      const { body } = await metrics.render();
      const line = body.split('\n').find((one) => one.startsWith(`${name} `)) ?? '';
      return Number(line.slice(name.length));
    },
    listen: async () => new URL(await app.listen({ port: 0, host: '127.0.0.1' })),
    untilDisconnected: async () => {
      const open = () => new Promise((resolve) => app.server.getConnections((_, count) => resolve(count)));
      await until(async () => (await open()) === 0);
    },
    close: async () => {
      await app.close();
      await service.close();
      await givenDatabase?.close();
      releaseDatabase(databaseUrl);
      await inbox.close();
    },
  };
}

/** True for due mail, leased or never tried, because its delivery time would be random. */
const isMailPending = (db: Db, now: number): Promise<boolean> =>
  hasRow(
    db
      .selectFrom('outbox')
      .select('id')
      .where('state', '=', 'queued')
      .where('due_at', '<=', now)
      .where((eb) => eb.or([eb('lease_id', 'is not', null), eb('attempts', '=', 0)])),
  );

/** True for a due event, unless an earlier one of the same lead and endpoint waits for its retry. */
const isEventPending = (db: Db, now: number): Promise<boolean> =>
  hasRow(
    db
      .selectFrom('webhook_events as e')
      .select('e.id')
      .where('e.state', '=', 'queued')
      .where('e.due_at', '<=', now)
      .where((eb) =>
        eb.not(
          eb.exists(
            eb
              .selectFrom('webhook_events as earlier')
              .select('earlier.id')
              .where('earlier.state', '=', 'queued')
              .where('earlier.due_at', '>', now)
              .whereRef('earlier.lead_id', '=', 'e.lead_id')
              .whereRef('earlier.endpoint', '=', 'e.endpoint')
              .whereRef('earlier.position', '<', 'e.position'),
          ),
        ),
      ),
  );

export async function withServer<Result>(
  { campaign, ...options }: ServerOptions,
  test: (server: ServerUnderTest) => Promise<Result>,
): Promise<Result> {
  if (campaign !== undefined)
    return inFolder((folder) => {
      const env = { ...options.env, CAMPAIGN_FOLDER: copyCampaign(folder, campaign) };
      return withServer({ ...options, env }, test);
    });
  const server = await startServer(options);
  try {
    const result = await test(server);
    assertSingleResponses(server);
    return result;
  } finally {
    await server.close();
  }
}

export async function sharedServer(options: Omit<ServerOptions, 'campaign'>): Promise<ServerUnderTest> {
  const server = await startServer(options);
  after(async () => {
    await server.close();
    assertSingleResponses(server);
  });
  return server;
}

function assertSingleResponses({ logLines }: ServerUnderTest): void {
  const repeatedResponses = logLines.filter((line) => line.includes('FST_ERR_REP_ALREADY_SENT'));
  assert.deepEqual(repeatedResponses, [], 'every request gets one response');
}

type RequestOptions = Partial<Omit<InjectOptions, 'cookies'>> & {
  readonly cookies?: Readonly<Record<string, string>>;
};

export type Visitor = {
  readonly cookies: Map<string, string>;
  /** Values of the kept headers. */
  readonly kept: Map<string, string>;
  readonly get: (url: string, options?: RequestOptions) => Promise<LightMyRequestResponse>;
  readonly post: (url: string, body?: unknown, options?: RequestOptions) => Promise<LightMyRequestResponse>;
};

const keep = (values: Map<string, string>, name: string, value: string) =>
  value === '' ? values.delete(name) : values.set(name, value);

/** @param keptHeaders headers that this visitor sends back, like cookies */
export function createVisitor(
  { app }: Pick<ServerUnderTest, 'app'>,
  address = '127.0.0.1',
  keptHeaders: readonly string[] = [],
): Visitor {
  const cookies = new Map<string, string>();
  const kept = new Map<string, string>();
  const request = async (options: RequestOptions): Promise<LightMyRequestResponse> => {
    const response = await app.inject({
      remoteAddress: address,
      ...options,
      cookies: { ...Object.fromEntries(cookies), ...options.cookies },
      headers: { ...Object.fromEntries(kept), ...options.headers },
    });
    for (const { name, value } of response.cookies) keep(cookies, name, value);
    for (const name of keptHeaders) {
      const value = response.headers[name];
      if (typeof value === 'string') keep(kept, name, value);
    }
    return response;
  };
  return {
    cookies,
    kept,
    post: (url, body = {}, options) =>
      request({ method: 'POST', url, payload: body as NonNullable<InjectOptions['payload']>, ...options }),
    get: (url, options) => request({ method: 'GET', url, ...options }),
  };
}

export const filledForm = (changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
  name: 'Ada Lovelace',
  company: 'Analytical Engines',
  email: 'ada@example.com',
  consent: true,
  ...changes,
});
