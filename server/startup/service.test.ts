import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import { buildApp } from '#server/startup/app.ts';
import { createLogger } from '#server/log/logger.ts';
import {
  openService,
  type Instance,
  type Service,
  type ServiceReplacements,
} from '#server/startup/service.ts';
import { API } from '#shared/api.ts';
import { inFolder } from '#testing/folder.ts';
import { createPostgresDatabase, ENGINES, freshDatabase, type Engine } from '#testing/databases.ts';
import { codeIn, startInbox } from '#testing/inbox.ts';
import { testInstance } from '#testing/open-test-service.ts';
import { createVisitor, filledForm, TEST_SECRET, withServer } from '#testing/server-under-test.ts';

const QUIET: ServiceReplacements = { logger: createLogger('silent', process.stdout), say: () => {} };

async function open(instance: Instance, replacements = QUIET): Promise<Service> {
  const result = await openService(instance, replacements);
  assert(result.type === 'service', JSON.stringify(result));
  return result.service;
}

const databaseUrlFor = async (engine: Engine): Promise<string> =>
  engine === 'sqlite' ? 'file:./data/leads.db' : createPostgresDatabase();

for (const engine of ENGINES) {
  it(`a second service on one database sends mail queued by the first on ${engine}`, (t) =>
    inFolder(async (folder) => {
      const inbox = await startInbox();
      t.after(() => inbox.close());
      const instance = testInstance(folder, {
        DATABASE_URL: await databaseUrlFor(engine),
        SMTP_URL: inbox.url,
        APP_SECRET: TEST_SECRET,
      });
      const [first, second] = await Promise.all([open(instance), open(instance)]);
      const app = await buildApp(first, { release: null, isStopping: () => false });
      const answer = await createVisitor({ app }).post(API.leads, filledForm());
      assert.equal(answer.statusCode, 202, answer.body);
      await app.close();
      await first.close();
      await first.close();

      const outbox = async ({ database: { db } }: Service) =>
        (await db.selectFrom('outbox').selectAll().execute()).map(
          ({ state, attempts }) => `${state} after ${attempts} tries`,
        );
      assert.deepEqual(await outbox(second), ['queued after 0 tries'], 'no worker was started to send it');
      second.startSending();
      assert.throws(() => second.startSending(), /already been started/);
      assert.match(codeIn(await inbox.waitForMail('ada@example.com')), /^\d{6}$/);
      await second.close();

      const third = await open(instance);
      assert.deepEqual(await outbox(third), ['sent after 1 tries']);
      assert.deepEqual(third.warnings, []);
      await third.close();
    }));
}

describe('parts of a service', { concurrency: true }, () => {
  it('a service with an in-memory database stores its secret in the instance folder', () =>
    inFolder(async (folder) => {
      const service = await open(testInstance(folder, { DATABASE_URL: 'file::memory:' }));
      await service.close();
      assert.deepEqual(readdirSync(path.join(folder, 'data')).toSorted(), ['app-secret', 'mail']);
    }));

  it('a service does not close a database passed to it', () =>
    inFolder(async (folder) => {
      await using database = await freshDatabase('sqlite');
      const instance = testInstance(folder, { DATABASE_URL: 'file::memory:', APP_SECRET: TEST_SECRET });
      await (await open(instance, { ...QUIET, database })).close();
      assert.equal((await database.db.selectFrom('known_secrets').select('id').execute()).length, 1);
    }));

  it('a service reports an open breaker to log, metrics and operator', () =>
    withServer(
      {
        engine: 'sqlite',
        env: { BREAKER_CODES_PER_MINUTE: '1', OPERATOR_EMAIL: 'operator@example.com' },
      },
      async (server) => {
        const ask = (email: string, address: string) =>
          createVisitor(server, address).post(API.leads, filledForm({ email }));
        assert.equal((await ask('ada@example.com', '203.0.113.7')).statusCode, 202);
        await server.advance(10);
        assert.equal((await ask('grace@example.com', '198.51.100.7')).statusCode, 428);
        const { parsed } = await server.inbox.waitForMail('operator@example.com');
        assert.match(parsed.subject ?? '', /^Somebody may be misusing the form of .+$/);
        assert.match(parsed.text ?? '', /^Reason: too many codes a minute\./m);
        const { body } = await server.metrics.render();
        assert.match(body, /^lead_page_breaker_opened_total\{reason="too many codes a minute"\} 1$/m);
        assert.equal(server.logLines.filter((line) => line.includes('BREAKER OPENED')).length, 1);
      },
    ));
});
