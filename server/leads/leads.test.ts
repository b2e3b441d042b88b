import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { codeIn } from '#testing/inbox.ts';
import { ENGINES } from '#testing/databases.ts';
import { createVisitor, filledForm, startServer, type ServerOptions, type ServerUnderTest } from '#testing/server-under-test.ts';

for (const engine of ENGINES) {
  const withServer = async (options: Omit<ServerOptions, 'engine'>, test: (server: ServerUnderTest) => Promise<void>) => {
    const server = await startServer({ engine, ...options });
    try {
      await test(server);
    } finally {
      await server.close();
    }
  };

  describe(`a lead on ${engine}`, () => {
    it('is stored, mailed a code, verified and let into the article', () =>
      withServer({}, async (server) => {
        const visitor = createVisitor(server);
        const requested = await visitor.post('/api/leads', filledForm({ email: '  Ada@Example.com ' }));
        assert.equal(requested.statusCode, 202, requested.body);
        const mail = await server.inbox.waitForMail('ada@example.com');
        const verified = await visitor.post('/api/verify', { email: 'ADA@example.com', code: codeIn(mail) });
        assert.equal(verified.statusCode, 200, verified.body);
        const article = await visitor.get('/api/article');
        assert.equal(article.statusCode, 200);
        assert.equal(await server.countRows('leads'), 1);
        assert.equal(await server.countRows('consent_receipts'), 1);
        console.log(mail.raw, requested.headers, requested.body);
      }));
  });
}
