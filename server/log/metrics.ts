// Names and labels must stay the same, because dashboards depend on them. Labels must not contain personal data.
import { createServer, type RequestListener, type ServerResponse } from 'node:http';

import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import { codeStatistics } from '#server/codes/codes.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { outboxBacklog } from '#server/db/tables/outbox.ts';
import { countEvents } from '#server/db/tables/webhook-events.ts';
import { HOUR_MS } from '#server/platform/time.ts';
import type { Config } from '#server/settings/settings.ts';
import { API } from '#shared/api.ts';

export type Metrics = {
  readonly requestCompleted: (request: {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly ms: number;
  }) => void;
  readonly limitHit: (limit: string) => void;
  readonly codeEntered: (afterMs: number) => void;
  readonly mail: (event: { type: string; queuedForMs?: number; errorClass?: string }) => void;
  readonly webhook: (outcome: { readonly type: string }) => void;
  readonly breakerOpened: (reason: string) => void;
  readonly expired: (rows: Readonly<Record<string, number>>) => void;
  readonly connectionsOpen: (count: number) => void;
  readonly connectionRefused: (reason: string) => void;
  readonly render: () => Promise<MetricsPage>;
  /**
   * Serves the metrics and starts watching memory, garbage collection and event-loop lag. Resolves once the port is open.
   * Call this once.
   */
  readonly serve: (app: HealthApp, options: MetricsServerOptions) => Promise<MetricsServer>;
};

/** Reading more codes would slow down the scrape; a sample of this size yields the same share. */
const CODE_SAMPLE_SIZE = 10_000;

type MetricsConfig = Pick<Config, 'codeTtlSeconds' | 'webhooks'> & { readonly logLinesLost: () => number };

export function createMetrics(
  database: Pick<OpenDatabase, 'db' | 'writes'>,
  clock: () => number,
  config: MetricsConfig,
): Metrics {
  const registry = new Registry();
  const events = createEventMetrics(registry);
  const readState = createStateMetrics(registry, database, clock, config);
  const render = async () => {
    await readState();
    return { contentType: registry.contentType, body: await registry.metrics() };
  };
  return {
    ...events,
    render,
    serve: (app, options) => {
      collectDefaultMetrics({ register: registry });
      return startMetricsServer(render, app, options);
    },
  };
}

const metricFactories = (registry: Registry) => ({
  counter: (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers: [registry] }),
  gauge: (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name, help, labelNames, registers: [registry] }),
  histogram: (name: string, help: string, buckets: number[], ...labelNames: string[]) =>
    new Histogram({ name, help, buckets, labelNames, registers: [registry] }),
});

function createEventMetrics(registry: Registry): Omit<Metrics, 'render' | 'serve'> {
  const { counter, gauge, histogram } = metricFactories(registry);
  const requests = histogram(
    'lead_page_request_seconds',
    'Requests by method, route and status of the response.',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    'method',
    'route',
    'status',
  );
  const limits = counter(
    'lead_page_limits_hit_total',
    'Requests refused by a limit, by the error code in the response.',
    'limit',
  );
  const mails = counter(
    'lead_page_mails_total',
    'Delivery attempts of all e-mails, by outcome: sent, dropped because no longer needed, permanently refused, or temporarily failed.',
    'outcome',
  );
  const smtpErrors = counter(
    'lead_page_smtp_errors_total',
    'Failed deliveries, by the class of the SMTP reply or the type of failure.',
    'class',
  );
  const webhooks = counter(
    'lead_page_webhooks_total',
    'Webhook attempts, by outcome: sent, temporarily failed, or dead after the last attempt.',
    'outcome',
  );
  const queued = histogram(
    'lead_page_mail_queued_seconds',
    'Time from queueing an e-mail of any kind until the SMTP server accepts it.',
    [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300],
  );
  const entered = histogram(
    'lead_page_time_to_code_seconds',
    'Time from the form until the right code is entered, with one observation per code.',
    [5, 10, 15, 20, 30, 45, 60, 90, 120, 300, 600],
  );
  const breaker = counter(
    'lead_page_breaker_opened_total',
    'Number of times the list-bomb breaker opened.',
    'reason',
  );
  const expired = counter('lead_page_expired_rows_total', 'Deleted expired rows, by table.', 'table');
  const connections = gauge('lead_page_connections_open', 'Open connections to this process.');
  const refusedConnections = counter(
    'lead_page_connections_refused_total',
    'Connections closed because there were too many (an idle connection if possible, otherwise the new one), by limit: network or process.',
    'reason',
  );
  // Prometheus sees no increase in a series that begins with 1, so the alarms of docs/running.md would miss the first event.
  for (const route of [API.leads, API.verify])
    for (const status of [500, 503]) requests.zero({ method: 'POST', route, status });
  limits.inc({ limit: 'mail-backlog' }, 0);
  for (const reason of ['too many codes a minute', 'too few codes entered']) breaker.inc({ reason }, 0);
  for (const reason of ['network', 'process']) refusedConnections.inc({ reason }, 0);
  return {
    requestCompleted: ({ ms, ...labels }) => requests.observe(labels, ms / 1000),
    limitHit: (limit) => limits.inc({ limit }),
    codeEntered: (afterMs) => entered.observe(Math.max(0, afterMs) / 1000),
    mail: ({ type, queuedForMs, errorClass }) => {
      mails.inc({ outcome: type });
      if (queuedForMs !== undefined) queued.observe(Math.max(0, queuedForMs) / 1000);
      if (errorClass !== undefined) smtpErrors.inc({ class: errorClass });
    },
    webhook: ({ type }) => webhooks.inc({ outcome: type }),
    breakerOpened: (reason) => breaker.inc({ reason }),
    expired: (rows) => {
      for (const [table, count] of Object.entries(rows)) expired.inc({ table }, count);
    },
    connectionsOpen: (count) => connections.set(count),
    connectionRefused: (reason) => refusedConnections.inc({ reason }),
  };
}

/** All processes share the outbox and the codes, so each scrape reads them from the database. */
function createStateMetrics(
  registry: Registry,
  { db, writes }: Pick<OpenDatabase, 'db' | 'writes'>,
  clock: () => number,
  { codeTtlSeconds, webhooks, logLinesLost }: MetricsConfig,
): () => Promise<void> {
  const { counter, gauge } = metricFactories(registry);
  const linesLost = counter(
    'lead_page_log_lines_lost_total',
    'Log lines that could not be written, for example because the disk is full.',
  );
  const depth = gauge('lead_page_outbox_depth', 'Queued e-mails.');
  const age = gauge(
    'lead_page_outbox_age_seconds',
    'Age of the oldest queued e-mail, or 0 if none is queued.',
  );
  const events = gauge('lead_page_webhook_events', 'Webhook events: queued, or given up (dead).', 'state');
  const decided = gauge(
    'lead_page_codes_last_hour',
    'Codes entered or expired within the last hour.',
    'outcome',
  );
  const reachable = gauge('lead_page_database_up', '1 if the database responds.');
  const writable = gauge(
    'lead_page_database_takes_writes',
    '1 unless the last writes of this process failed, for example because the disk is full.',
  );

  const readDatabase = async (): Promise<void> => {
    const backlog = await outboxBacklog(db);
    depth.set(backlog.depth);
    age.set(Math.max(0, clock() - (backlog.oldestCreatedAt ?? Infinity)) / 1000);
    if (webhooks.urls.length > 0) {
      const counts = await countEvents(db);
      events.set({ state: 'queued' }, counts.queued);
      events.set({ state: 'dead' }, counts.dead);
    }
    const to = clock() - codeTtlSeconds * 1000;
    const codes = await codeStatistics(db, { from: to - HOUR_MS, to, limit: CODE_SAMPLE_SIZE });
    decided.set({ outcome: 'entered' }, codes.entered);
    decided.set({ outcome: 'expired' }, codes.sent - codes.entered);
  };

  return async () => {
    linesLost.reset();
    linesLost.inc(logLinesLost());
    writable.set(writes.fault() === null ? 1 : 0);
    try {
      await readDatabase();
      reachable.set(1);
    } catch {
      reachable.set(0);
    }
  };
}

const TEXT_TYPE = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };

type MetricsPage = { readonly contentType: string; readonly body: string };

type HealthApp = Pick<FastifyInstance, 'inject'>;

type MetricsServerOptions = {
  readonly port: number;
  readonly host: string;
  readonly isStopping?: () => boolean;
};

export type MetricsServer = {
  readonly port: number;
  readonly close: () => Promise<void>;
};

/**
 * Uses a separate port, so the public port cannot expose metrics by mistake. Also serves health and liveness, in case all
 * public connections are in use. Resolves once the port is open.
 */
async function startMetricsServer(
  render: () => Promise<MetricsPage>,
  app: HealthApp,
  { port, host, isStopping = () => false }: MetricsServerOptions,
): Promise<MetricsServer> {
  const pages = new Map<string | undefined, (response: ServerResponse) => Promise<unknown>>(
    Object.entries({
      '/metrics': async (response) => {
        const { contentType, body } = await render();
        response.writeHead(200, { 'content-type': contentType }).end(body);
      },
      [API.live]: async (response) => response.writeHead(200, JSON_TYPE).end('{"status":"ok"}'),
      [API.health]: async (response) => {
        const health = await app.inject(API.health).catch(() => null);
        if (health === null) response.writeHead(503, TEXT_TYPE).end('This process is stopping.');
        else response.writeHead(health.statusCode, health.headers).end(health.rawPayload);
      },
    }),
  );
  const listener: RequestListener = (request, response) => {
    if (isStopping()) response.setHeader('connection', 'close');
    const page = request.method === 'GET' ? pages.get(request.url) : undefined;
    if (page === undefined) {
      const sentence = `The metrics are at /metrics. ${API.live} and ${API.health} are also available here.\n`;
      response.writeHead(404, TEXT_TYPE).end(sentence);
      return;
    }
    page(response).catch(() => response.writeHead(500).end());
  };
  const server = createServer(listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
