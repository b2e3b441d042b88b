// More requests than the process can take, and a process that stops.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { API } from '#shared/api.ts';
import { ENGINES } from '#testing/databases.ts';
import { createVisitor, filledForm, withServer } from '#testing/server-under-test.ts';

for (const engine of ENGINES) {
  describe(`load shedding on ${engine}`, () => {
    it('answers 503 and when to come back, keeps what it took, and still tells its health', () =>
      withServer({ engine, maxInHand: 5 }, async (server) => {
        const asks = Array.from({ length: 40 }, (_, index) =>
          createVisitor(server, `203.0.113.${index}`).post(
            API.leads,
            filledForm({ email: `visitor-${index}@example.com` }),
          ),
        );
        const health = await server.app.inject(API.health);
        assert.equal(health.statusCode, 200, 'the health check is never shed');
        const answers = await Promise.all(asks);
        const taken = answers.filter(({ statusCode }) => statusCode === 202);
        const shed = answers.filter(({ statusCode }) => statusCode === 503);
        assert.equal(taken.length + shed.length, 40);
        assert.ok(shed.length > 0 && taken.length > 0, `${taken.length} taken, ${shed.length} shed`);
        for (const { headers, body } of shed) {
          assert.ok(Number(headers['retry-after']) > 0);
          assert.match(body, /^We cannot take this request at the moment\./);
        }
        assert.equal(await server.countRows('submissions'), taken.length);
        // It recovers by itself.
        const later = await createVisitor(server).post(API.leads, filledForm({ email: 'later@example.com' }));
        assert.equal(later.statusCode, 202);
      }));
  });
}
