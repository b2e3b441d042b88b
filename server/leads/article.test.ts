import assert from 'node:assert/strict';

import { guideUrl } from '#server/secrets/mail-links.ts';
import { API, WITH_ARTICLE } from '#shared/api.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { adding } from '#testing/campaign-copy.ts';
import { createVisitor, type ServerUnderTest } from '#testing/server-under-test.ts';
import { refuseWrites } from '#testing/refuse-writes.ts';
import { askForCode, EMAIL, refusalOf } from '#testing/lead-calls.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { until } from '#testing/until.ts';

const AFTER_CODE = { campaign: { 'site.yaml': adding('afterCode: https://example.com/thanks\n') } };

/** Enters another code, whose response has the article. */
async function verify(server: ServerUnderTest) {
  const { visitor, code } = await askForCode(server);
  const headers = { prefer: WITH_ARTICLE };
  const answer = await visitor.post(API.verify, { email: EMAIL, code }, { headers });
  assert.equal(answer.statusCode, 200);
  return { visitor, answer };
}

async function firstReadAt({ database: { db } }: ServerUnderTest): Promise<number | null> {
  return (await db.selectFrom('leads').select('first_read_at').executeTakeFirstOrThrow()).first_read_at;
}

onEachEngine('first reading without webhooks', ({ test, both }) => {
  test('with afterCode, the article counts as read only once it is opened', AFTER_CODE, async (server) => {
    const { visitor } = await verify(server);
    assert.equal(await firstReadAt(server), null);
    await visitor.get(API.article);
    assert.equal(await firstReadAt(server), server.now());
  });

  test('an article opened from a mail counts as read only once its reader scrolls', async (server) => {
    const { leadId } = await becomeLead(server, EMAIL);
    const link = guideUrl(server.service.secrets, '', leadId, server.now());
    const scanner = createVisitor(server, '198.51.100.10');
    assert.equal((await scanner.get(link)).statusCode, 303);
    assert.equal((await scanner.get(API.article)).statusCode, 200);
    assert.equal(await firstReadAt(server), null);
    await scanner.get(API.article, { method: 'HEAD' });
    assert.equal(await firstReadAt(server), server.now());
  });

  test('a first reading is stored in the session of the code, even through the link in a mail', async (server) => {
    const { visitor, leadId } = await becomeLead(server, EMAIL);
    await visitor.get(guideUrl(server.service.secrets, '', leadId, server.now()));
    await visitor.get(API.article);
    assert.equal(await firstReadAt(server), server.now());
  });

  both('a first reading is stored when the article is fetched, but no later reading', async (server) => {
    const { visitor } = await becomeLead(server, EMAIL);
    assert.equal((await visitor.get(API.article, { method: 'HEAD' })).statusCode, 200);
    assert.equal(await firstReadAt(server), null);
    const first = server.now();
    for (let count = 0; count < 2; count += 1) {
      assert.equal((await visitor.get(API.article)).statusCode, 200);
      await server.advance(61);
    }
    await verify(server);
    assert.equal(await firstReadAt(server), first);
  });

  test('a first reading is stored for an existing lead who reads with a new code', async (server) => {
    await becomeLead(server, EMAIL);
    await server.advance(61);
    await verify(server);
    assert.equal(await firstReadAt(server), server.now());
  });

  both('a first reading that cannot be stored does not withhold the article', async (server) => {
    const { visitor } = await becomeLead(server, EMAIL);
    const allow = await refuseWrites(server.database, 'update of first_read_at on leads');
    assert.equal((await visitor.get(API.article)).statusCode, 200);
    await until(() =>
      /The time of a lead’s first visit to the article could not be stored/.test(server.logLines.join('')),
    );
    await server.advance(61);
    const { answer } = await verify(server);
    assert.equal(answer.headers['preference-applied'], WITH_ARTICLE);
    assert.equal(await firstReadAt(server), null);
    await allow();
    assert.equal((await visitor.get(API.article)).statusCode, 200);
    assert.equal(await firstReadAt(server), server.now());
  });
});

const FILE = Buffer.alloc(300_000, '%PDF-1.7 guide ');

const WITH_FILE = {
  campaign: {
    'article/the guide.pdf': FILE,
    'site.yaml': adding('download:\n  label: Download as PDF\n  file: the guide.pdf\n'),
  },
};

onEachEngine('guide file', ({ test, both }) => {
  both('the guide file is sent complete and only to a verified visitor', WITH_FILE, async (server) => {
    const stranger = createVisitor(server);
    for (const method of ['GET', 'HEAD'] as const) {
      const refused = await server.app.inject({ method, url: API.guideFile });
      const article = await server.app.inject({ method, url: API.article });
      assert.equal(refused.statusCode, 401, method);
      assert.equal(refused.body, article.body, 'refused as the article is');
      assert.equal(refused.headers['x-error-code'], 'no-session');
      assert.equal(refused.headers['cache-control'], 'no-store');
    }
    assert.equal((await stranger.get(API.guideFile)).rawPayload.includes('%PDF'), false);

    const { visitor, leadId } = await becomeLead(server, 'ada@example.com');
    const answer = await visitor.get(API.guideFile);
    assert.equal(answer.statusCode, 200);
    assert.deepEqual(answer.rawPayload, FILE);
    const { headers } = answer;
    assert.equal(headers['content-type'], 'application/pdf');
    assert.equal(headers['content-length'], String(FILE.length));
    assert.equal(headers['content-disposition'], 'attachment; filename="the guide.pdf"');
    assert.equal(headers['cache-control'], 'private, no-store');
    assert.equal(headers['x-robots-tag'], 'noindex');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.match(String(headers['content-security-policy']), /^default-src 'none'/);

    const part = await visitor.get(API.guideFile, { headers: { range: 'bytes=299990-' } });
    assert.equal(part.statusCode, 206);
    assert.deepEqual(part.rawPayload, FILE.subarray(299_990));
    assert.equal(part.headers['cache-control'], 'private, no-store');

    await server.database.db.deleteFrom('consent_receipts').execute();
    await server.database.db.deleteFrom('leads').where('id', '=', leadId).execute();
    assert.equal((await visitor.get(API.guideFile)).statusCode, 401);
    assert.ok(!server.logLines.join('').includes('guide.pdf'));
  });

  test('a request for the guide file gets 404 if the campaign has none', async (server) => {
    const { visitor } = await becomeLead(server, 'ada@example.com');
    const answer = await visitor.get(API.guideFile);
    assert.deepEqual(refusalOf(answer), [404, 'not-found']);
  });
});
