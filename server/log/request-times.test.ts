import assert from 'node:assert/strict';
import { it } from 'node:test';

import { Histogram, Registry } from 'prom-client';

import { createRequestTimes, type AnsweredRequest } from '#server/log/metrics.ts';

it('response times are formatted exactly as by prom-client', async () => {
  const registry = new Registry();
  const known = new Histogram({
    name: 'lead_page_request_seconds',
    help: 'Requests answered, by method, route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  const times = createRequestTimes();
  const requests: AnsweredRequest[] = [
    0, 0.3, 5, 5.001, 10, 99, 250, 1_000, 9_999, 10_000, 10_001, 60_000,
  ].flatMap((ms) => [
    { method: 'GET', route: '/', status: 200, ms },
    { method: 'GET', route: '/', status: 304, ms: ms / 2 },
    { method: 'HEAD', route: '/', status: 200, ms: ms + 1 },
    { method: 'GET', route: '/media/"a\\b".png', status: 200, ms },
  ]);
  for (const request of requests) {
    times.note(request);
    const { method, route, status, ms } = request;
    known.observe({ method, route, status }, ms / 1000);
  }
  const lines = (text: string) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .toSorted();
  assert.deepEqual(lines(times.render()), lines(await registry.metrics()));
});

it('response times are a valid histogram before the first request', () => {
  assert.match(
    createRequestTimes().render(),
    /^# HELP \S+ .+\n# TYPE lead_page_request_seconds histogram\n$/,
  );
});
