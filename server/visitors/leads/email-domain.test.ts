import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { API } from '#shared/api.ts';
import { ENGINES } from '#testing/databases.ts';
import { codeIn } from '#testing/inbox.ts';
import { createVisitor, filledForm, withServer } from '#testing/server-under-test.ts';

const FREE = 'someone@GMail.com';
const DISPOSABLE = 'someone@mailinator.com';
const WORK = 'someone@analytical-engines.example';

for (const engine of ENGINES) {
  describe(`the policy on e-mail domains on ${engine}`, () => {
    it('is off by default', () =>
      withServer({ engine }, async (server) => {
        for (const email of [FREE, DISPOSABLE, WORK]) {
          const response = await createVisitor(server).post(API.leads, filledForm({ email }));
          assert.equal(response.statusCode, 202, email);
        }
        const rows = await server.database.db.selectFrom('submissions').select('flags').execute();
        assert.deepEqual(
          rows.map(({ flags }) => flags),
          ['', '', ''],
        );
      }));

    it('marks the lead with "flag"', () =>
      withServer({ engine, env: { FREE_MAIL: 'flag', DISPOSABLE_MAIL: 'flag' } }, async (server) => {
        for (const email of [FREE, DISPOSABLE, WORK]) {
          const visitor = createVisitor(server);
          assert.equal((await visitor.post(API.leads, filledForm({ email }))).statusCode, 202);
          const code = codeIn(await server.inbox.waitForMail(email));
          assert.equal((await visitor.post(API.verify, { email, code })).statusCode, 200);
        }
        const leads = await server.database.db.selectFrom('leads').select(['email', 'flags']).execute();
        assert.deepEqual(Object.fromEntries(leads.map(({ email, flags }) => [email, flags])), {
          [FREE.toLowerCase()]: 'free-mail',
          [DISPOSABLE]: 'disposable',
          [WORK]: '',
        });
      }));

    it('refuses with "block", says why, and stores and mails nothing', () =>
      withServer({ engine, env: { FREE_MAIL: 'block', DISPOSABLE_MAIL: 'block' } }, async (server) => {
        for (const email of [FREE, DISPOSABLE]) {
          const response = await createVisitor(server).post(API.leads, filledForm({ email }));
          assert.equal(response.statusCode, 400, email);
          assert.equal(response.headers['x-error-code'], 'email-domain-refused');
          assert.match(response.body, /Please use your work email\.$/);
        }
        assert.equal(await server.countRows('submissions'), 0);
        assert.equal(
          (await createVisitor(server).post(API.leads, filledForm({ email: WORK }))).statusCode,
          202,
        );
      }));
  });
}
