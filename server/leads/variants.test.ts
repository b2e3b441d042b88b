import assert from 'node:assert/strict';
import path from 'node:path';
import { before, it } from 'node:test';

import { distFolder } from '#server/http/releases.ts';
import { API, CONSENT_VERSION_HEADER } from '#shared/api.ts';
import { ensureBuilt } from '#testing/built-site.ts';
import { desk, refused, succeeded } from '#testing/desk.ts';
import { createVisitor, filledForm, withServer } from '#testing/server-under-test.ts';
import { variantsCampaign } from '#testing/other-campaigns.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { receiptsOf } from '#testing/consents.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..', '..');
const EMAIL = 'ada@example.com';
const B = 'Write Emails That Get Answers';

before(() => ensureBuilt(variantsCampaign()));

const WITH_VARIANTS = {
  env: { CAMPAIGN_FOLDER: variantsCampaign() },
  siteFolder: distFolder(PROJECT_FOLDER, variantsCampaign()),
};

it('a browser with a cached variant gets the same variant again, even after another build', () =>
  withServer({ engine: 'sqlite', ...WITH_VARIANTS }, async ({ app }) => {
    const get = (url: string, tag?: string) =>
      app.inject({ url, ...(tag !== undefined && { headers: { 'if-none-match': tag } }) });
    const preview = await get('/?variant=b');
    assert.ok(preview.body.includes(B));
    assert.equal(preview.headers['cache-control'], 'private, no-cache');
    const tag = String(preview.headers.etag);
    assert.match(tag, /^"b\.[\w-]{22}"$/);
    for (let times = 0; times < 20; times += 1) {
      assert.equal((await get('/', tag)).statusCode, 304);
      assert.equal((await get('/', `W/${tag}`)).statusCode, 304);
      const renewed = await get('/?utm_source=x', '"b.of-an-earlier-build-00"');
      assert.equal(renewed.statusCode, 200);
      assert.ok(renewed.body.includes(B));
      assert.ok(!(await get('/', '"a.of-an-earlier-build-00"')).body.includes(B));
    }
    const drawn = await Promise.all(Array.from({ length: 60 }, () => get('/')));
    assert.equal(new Set(drawn.map(({ body }) => body.includes(B))).size, 2);
    assert.equal((await get('/favicon.svg')).headers['cache-control'], 'public, max-age=3600');
  }));

onEachEngine('variant of a form', WITH_VARIANTS, ({ both: test }) => {
  test('form, lead, export and consent record the variant', async (server) => {
    const { database, campaign, service } = server;
    const own = campaign.variants.find(({ name }) => name === 'b');
    assert.ok(own !== undefined && own.consent.version !== campaign.consent.version);
    const headers = { [CONSENT_VERSION_HEADER]: own.consent.version };
    await becomeLead(server, EMAIL, 1, { form: { variant: 'b' }, headers });
    const stranger = createVisitor(server);
    await stranger.post(API.leads, filledForm({ email: 'eve@example.com', variant: "x' or 1" }));

    const forms = database.db.selectFrom('submissions').select(['email', 'variant']).orderBy('email');
    assert.deepEqual(await forms.execute(), [
      { email: EMAIL, variant: 'b' },
      { email: 'eve@example.com', variant: null },
    ]);
    const leads = await database.db.selectFrom('leads').select('variant').execute();
    assert.deepEqual(leads, [{ variant: 'b' }]);
    const [receipt] = await receiptsOf(server);
    const { text, version } = own.consent;
    assert.deepEqual([receipt?.version, receipt?.text], [version, text]);
    const csv = await desk(service, ['export', '--format', 'csv']);
    const [head = '', row = ''] = csv.out.split(/\r?\n/);
    assert.ok(head.endsWith(',variant'), head);
    assert.ok(row.endsWith(',b'), row);
  });

  test('the report can be limited to a variant', async (server) => {
    const headers = { referer: 'http://localhost/?utm_source=newsletter' };
    await becomeLead(server, 'one@example.com', 1, { form: { variant: 'a', name: 'One A' }, headers });
    await becomeLead(server, 'two@example.com', 1, { form: { variant: 'b', name: 'Two B' }, headers });
    const lost = filledForm({ email: 'lost@example.com', variant: 'b', name: 'Lost B' });
    await createVisitor(server).post(API.leads, lost, { headers });
    const report = async (...options: string[]) => {
      const answer = await succeeded(desk(server.service, ['report', '--json', ...options]));
      const { only, leads, funnel } = JSON.parse(answer.out) as {
        readonly only?: object;
        readonly leads: number;
        readonly funnel: readonly { readonly step: string; readonly people?: number }[];
      };
      return [only, leads, funnel.find(({ step }) => step === 'asked')?.people];
    };
    assert.deepEqual(await report(), [undefined, 2, 3]);
    assert.deepEqual(await report('--variant', 'a'), [{ variant: 'a' }, 1, 1]);
    assert.deepEqual(await report('--variant', 'b', '--source', 'newsletter'), [
      { source: 'newsletter', variant: 'b' },
      1,
      2,
    ]);
    const { out } = await desk(server.service, ['report', '--text', '--variant', 'b']);
    assert.match(out, /, variant b$/m);
    assert.match(out, /Views of a single variant are left out/);
    const unknown = desk(server.service, ['report', '--json', '--variant', 'bb']);
    await refused(unknown, /There is no variant “bb”\. Known variants: b, a\./, 2);
  });

  test('each step of the funnel is counted by variant, but only for existing variants', async ({
    app,
    database,
    service,
  }) => {
    const browser = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
    const report = (body: object, agent = browser) =>
      app.inject({
        method: 'POST',
        url: API.funnel,
        headers: { 'content-type': 'application/json', 'user-agent': agent },
        payload: body,
      });
    for (const body of [
      { step: 'first-seen', variant: 'b' },
      { step: 'first-seen', variant: 'b' },
      { step: 'opened', variant: 'b' },
      { step: 'first-seen', variant: 'zz' },
      { step: 'first-seen' },
    ])
      assert.equal((await report(body)).statusCode, 204);
    await service.funnel.write();
    const counts = await database.db
      .selectFrom('variant_counts')
      .select(['step', 'variant', 'count'])
      .orderBy('step')
      .execute();
    assert.deepEqual(counts, [
      { step: 'first-seen', variant: 'b', count: 2 },
      { step: 'opened', variant: 'b', count: 1 },
    ]);
    const funnel = await database.db.selectFrom('funnel_counts').select(['step', 'count']).execute();
    assert.deepEqual(funnel, [{ step: 'opened', count: 1 }]);
  });
});
