// The guide as a file: with a session alone, whole, and in no public file.
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import { API } from '#shared/api.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { withLastingCampaignCopy } from '#testing/campaign-copy.ts';
import { ENGINES } from '#testing/databases.ts';
import { createVisitor, withServer } from '#testing/server-under-test.ts';

/** More than a stream hands over at once. */
const FILE = Buffer.alloc(300_000, '%PDF-1.7 guide ');

function addDownload(folder: string): void {
  writeFileSync(path.join(folder, 'article', 'the guide.pdf'), FILE);
  const site = path.join(folder, 'site.yaml');
  writeFileSync(
    site,
    `${readFileSync(site, 'utf8')}\ndownload:\n  label: Download as PDF\n  file: the guide.pdf\n`,
  );
}

for (const engine of ENGINES) {
  describe(`the guide as a file on ${engine}`, () => {
    it('is sent whole to a verified visitor, and to no one else', () =>
      withLastingCampaignCopy(async (folder) => {
        addDownload(folder);
        await withServer({ engine, env: { CAMPAIGN_FOLDER: folder } }, async (server) => {
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

          // A download that broke off goes on where it was.
          const part = await visitor.get(API.guideFile, { headers: { range: 'bytes=299990-' } });
          assert.equal(part.statusCode, 206);
          assert.deepEqual(part.rawPayload, FILE.subarray(299_990));
          assert.equal(part.headers['cache-control'], 'private, no-store');

          // Each server serves what it started with, as the rest of its release.
          rmSync(path.join(folder, 'article', 'the guide.pdf'));
          assert.deepEqual((await visitor.get(API.guideFile)).rawPayload, FILE);

          // An erased lead has no access any more, whatever its cookie says.
          await server.database.db.deleteFrom('consent_receipts').execute();
          await server.database.db.deleteFrom('leads').where('id', '=', leadId).execute();
          assert.equal((await visitor.get(API.guideFile)).statusCode, 401);
          assert.ok(!server.logLines.join('').includes('guide.pdf'));
        });
      }));

    it('is not there where the campaign has none', () =>
      withServer({ engine }, async (server) => {
        const { visitor } = await becomeLead(server, 'ada@example.com');
        const answer = await visitor.get(API.guideFile);
        assert.equal(answer.statusCode, 404);
        assert.equal(answer.headers['x-error-code'], 'not-found');
      }));
  });
}
