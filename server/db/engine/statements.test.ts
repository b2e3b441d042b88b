import assert from 'node:assert/strict';
import { it } from 'node:test';

import { API, WITH_ARTICLE } from '#shared/api.ts';
import { ENGINES, freshDatabase } from '#testing/databases.ts';
import { housekeeperOf } from '#testing/housekeeper.ts';
import { codeIn, smtpError } from '#testing/inbox.ts';
import { enter, wrongFor } from '#testing/lead-calls.ts';
import { createVisitor, filledForm, withServer } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';

const MAX_VISITOR_STATEMENTS = 21;
const MAX_WORKER_POLLS = 5;

for (const engine of ENGINES) {
  it(`any number of visitors causes only a few different statements on ${engine}`, async () => {
    const texts = new Set<string>();
    const database = await freshDatabase(engine, { onStatement: (text) => texts.add(text) });
    const deferred = new Set<string>();
    const onRecipient = (address: string) => {
      if (!/[05]@/.test(address) || deferred.has(address)) return null;
      deferred.add(address);
      return smtpError(451, 'Later');
    };
    await withServer({ engine, database, inbox: { onRecipient } }, async (server) => {
      const { runHousekeeping } = housekeeperOf(server);
      const flow = async (number: number) => {
        const email = `visitor-${number}@example.com`;
        const visitor = createVisitor(server, `198.51.100.${number}`);
        assert.equal((await visitor.post(API.leads, filledForm({ email }))).statusCode, 202);
        await visitor.post(API.leads, filledForm({ email, name: 'Ada, again' }));
        await server.advance(61);
        server.wakeWorker();
        await server.inbox.waitForMail(email);
        await server.advance(61);
        await visitor.post(API.leads, filledForm({ email }));
        const code = codeIn(await server.inbox.waitForMail(email, 2));
        for (const one of [visitor, createVisitor(server)]) await enter(one, wrongFor(code), email);
        await visitor.get(API.challenge);
        assert.equal((await visitor.post(API.verify, { email, code })).statusCode, 200);
        assert.equal((await visitor.get(API.article)).statusCode, 200);
        await server.app.inject(API.health);
        await server.app.inject(API.proofOfWork);
        await server.metrics.render();
        await server.advance(1_800 + number);
        await runHousekeeping();
      };
      for (let number = 1; number <= 10; number += 1) await flow(number);
      const usual = texts.size;
      for (let number = 11; number <= 20; number += 1) await flow(number);
      assert.ok(texts.size > 20, 'they are counted');
      // A few rare statements may be added later. One new statement per visitor would add ten.
      assert.ok(texts.size < usual + 5, `${usual} after 10 visitors, ${texts.size} after 20`);
    });
  });

  it(`a visitor's form, code and article take at most ${MAX_VISITOR_STATEMENTS} statements on ${engine}`, async () => {
    const statements: string[] = [];
    const database = await freshDatabase(engine, { onStatement: (text) => statements.push(text) });
    await withServer({ engine, database }, async (server) => {
      const flow = async (number: number) => {
        const email = `visitor-${number}@example.com`;
        const visitor = createVisitor(server, `198.51.100.${number}`);
        await visitor.post(API.leads, filledForm({ email }));
        const code = codeIn(await server.inbox.waitForMail(email));
        const headers = { prefer: WITH_ARTICLE };
        const verified = await visitor.post(API.verify, { email, code }, { headers });
        assert.deepEqual(verified.json(), { verified: true, article: server.campaign.article });
      };
      const isResult = (text: string) => text.startsWith('update "outbox" set "state"');
      const isRead = (text: string) => /from "codes" where "id" = \S+$/.test(text);
      await flow(1);
      await until(() => statements.some(isResult));
      statements.length = 0;
      await flow(2);
      await until(() => statements.some(isResult));
      const polls = statements.filter((text) => text.startsWith('with "due"'));
      const visitorStatements = statements.filter(
        (text) => !isResult(text) && !isRead(text) && !polls.includes(text),
      );
      assert.ok(polls.length <= MAX_WORKER_POLLS, `${polls.length} polls`);
      assert.ok(
        visitorStatements.length <= MAX_VISITOR_STATEMENTS,
        `${visitorStatements.length}:\n${visitorStatements.join('\n')}`,
      );
      assert.ok(visitorStatements.length > 10, 'they are counted');
    });
  });
}
