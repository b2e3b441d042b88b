// The two workers stop together: one that fails to stop leaves the other none of its work.
import assert from 'node:assert/strict';
import { it } from 'node:test';

import { v7 as uuid } from 'uuid';

import { insertLeadEvent } from '#server/db/tables/webhook-events.ts';
import { createWorkers } from '#server/run/workers.ts';
import { endpointsOf } from '#server/webhooks/webhook-endpoints.ts';
import { withServer } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';

const LANE = { network: '203.0.113.1', domain: 'example.com' };

it('the mail worker stops, also when the webhook worker cannot', () =>
  withServer({ engine: 'sqlite' }, async ({ service, database, now, logLines }) => {
    const endpoints = endpointsOf(['https://hooks.example.com/leads']);
    const { campaign, config } = service;
    const workers = createWorkers({
      ...service,
      mail: {
        ...service,
        codeEmail: campaign.codeEmail,
        newLeadEmail: campaign.newLeadEmail,
        codeTtlSeconds: config.codeTtlSeconds,
        publicUrl: config.publicUrl,
        title: campaign.site.title,
        language: campaign.site.language,
        guide: null,
        clock: now,
        random: () => 0.5,
      },
      webhooks: { endpoints, openSender: () => Promise.reject(new Error('Its code is gone.')) },
    });
    await insertLeadEvent(database.db, {
      ids: [uuid()],
      type: 'lead.verified',
      leadId: uuid(),
      payload: '{}',
      endpoints: endpoints.map(({ id }) => id),
      notBefore: now(),
      now: now(),
    });
    const mayReserve = (): boolean => {
      using reservation = workers.reserveDelivery(LANE);
      return reservation !== null;
    };
    workers.start();
    await until(() => logLines.join('').includes('The webhook worker could not do its work'));
    await until(mayReserve);
    await assert.rejects(workers.stop(), /Its code is gone/);
    const isRunning = mayReserve();
    await workers.stop().catch(() => {});
    assert.equal(isRunning, false);
  }));
