import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

import {
  beginRelease,
  copyCampaign,
  distFolder,
  publishRelease,
  readSources,
} from '#server/http/releases.ts';
import { PROJECT_FOLDER } from '#server/platform/files.ts';
import { buildApp } from '#server/startup/app.ts';
import { readInstanceAndSite } from '#server/startup/service.ts';
import { API } from '#shared/api.ts';
import { changeFiles, withLastingCampaignCopy } from '#testing/campaign-copy.ts';
import { createPostgresDatabase, MATRIX_ENGINES } from '#testing/databases.ts';
import { environment } from '#testing/environment.ts';
import { inFolder } from '#testing/folder.ts';
import { codeIn, startInbox } from '#testing/inbox.ts';
import { askFrom } from '#testing/lead-calls.ts';
import { openTestService } from '#testing/open-test-service.ts';
import { createVisitor, filledForm, TEST_SECRET, withServer } from '#testing/server-under-test.ts';

for (const engine of MATRIX_ENGINES)
  it(`a second service on one database sends mail queued by the first on ${engine}`, () =>
    inFolder(async (folder) => {
      await using inbox = await startInbox();
      const env = {
        DATABASE_URL: engine === 'sqlite' ? 'file:./data/leads.db' : await createPostgresDatabase(),
        SMTP_URL: inbox.url,
        APP_SECRET: TEST_SECRET,
      };
      const [first, second] = await Promise.all([openTestService(folder, env), openTestService(folder, env)]);
      const app = await buildApp(first, { release: null, isStopping: () => false });
      const answer = await createVisitor({ app }).post(API.leads, filledForm());
      assert.equal(answer.statusCode, 202, answer.body);
      await app.close();
      await first.close();
      second.startSending();
      assert.match(codeIn(await inbox.waitForMail('ada@example.com')), /^\d{6}$/);
      await second.close();
    }));

it('a service reports an open breaker to log, metrics and operator', () =>
  withServer(
    { engine: 'sqlite', env: { BREAKER_CODES_PER_MINUTE: '1', OPERATOR_EMAIL: 'operator@example.com' } },
    async (server) => {
      assert.equal((await askFrom(server, '203.0.113.7', 'ada@example.com')).statusCode, 202);
      await server.advance(10);
      assert.equal((await askFrom(server, '198.51.100.7', 'grace@example.com')).statusCode, 428);
      const { parsed } = await server.inbox.waitForMail('operator@example.com');
      assert.match(parsed.subject ?? '', /^Somebody may be misusing the form of .+$/);
      assert.match(parsed.text ?? '', /^Reason: too many codes a minute\./m);
      const { body } = await server.metrics.render();
      assert.match(body, /^lead_page_breaker_opened_total\{reason="too many codes a minute"\} 1$/m);
      assert.equal(server.logLines.filter((line) => line.includes('BREAKER OPENED')).length, 1);
    },
  ));

it('words changed after a build are used only after the next build', () =>
  withLastingCampaignCopy(async (campaign) => {
    using _environment = environment({ CAMPAIGN_FOLDER: campaign });
    const dist = distFolder(PROJECT_FOLDER, campaign);
    try {
      const building = beginRelease(dist);
      const facts = { builtFrom: readSources(PROJECT_FOLDER, campaign), sitePath: '', inlineHashes: {} };
      writeFileSync(path.join(building, 'release.json'), JSON.stringify(facts));
      copyCampaign(campaign, building);
      publishRelease(dist, building);
      const seen = () => {
        const read = readInstanceAndSite();
        assert.equal(read.type, 'instance');
        const { site, campaign: words, warnings } = read;
        const waits = warnings.some((warning) =>
          /campaign\/site\.yaml changed .* the last one/.test(warning),
        );
        return { site: site.type, title: words.site.title, waits };
      };
      const built = seen();
      assert.deepEqual(built, { ...built, site: 'release', waits: false });
      changeFiles(campaign, { 'site.yaml': (text) => text.replace(/^title: .*/m, 'title: Another Guide') });
      assert.deepEqual(seen(), { ...built, site: 'outdated', waits: true });
      changeFiles(campaign, { 'site.yaml': (text) => text.replace(/^title: .*/m, 'title:') });
      assert.deepEqual(seen(), { ...built, site: 'outdated', waits: true }, 'even with mistakes');
    } finally {
      rmSync(dist, { recursive: true, force: true });
    }
  }));
