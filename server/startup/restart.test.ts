import assert from 'node:assert/strict';
import { it } from 'node:test';

import { API } from '#shared/api.ts';
import { inFolder } from '#testing/folder.ts';
import { startOnHeldSocket, repeatRequests } from '#testing/held-socket.ts';
import { startInbox } from '#testing/inbox.ts';
import { becomeLeadAt, postJson } from '#testing/post-json.ts';
import { filledForm, TEST_SECRET } from '#testing/server-under-test.ts';
import { startSiteProcess } from '#testing/start-site.ts';
import { until } from '#testing/until.ts';
import { webhooksAt } from '#testing/webhook-leads.ts';
import { startReceiver } from '#testing/webhook-receiver.ts';

const SETTINGS = { APP_SECRET: TEST_SECRET, MAIL_FROM: 'guide@example.com' };
const PATIENCE_MS = 60_000;
const eventually = (holds: () => boolean | Promise<boolean>) => until(holds, PATIENCE_MS);

it('a restart on a systemd socket does not refuse any page view or form', () =>
  inFolder(async (folder) => {
    const env = { ...SETTINGS, LEADS_PER_IP_PER_HOUR: '0', BREAKER_CODES_PER_MINUTE: '0' };
    const page = await startOnHeldSocket({ ...env, PORT: '1' }, folder);
    let forms = 0;
    const get = async (headers: Record<string, string>) => {
      const response = await fetch(`${page.url}/`, { headers });
      await response.arrayBuffer();
      return response.status === 200 ? null : `page: ${response.status}`;
    };
    const post = async () => {
      forms += 1;
      const form = filledForm({ email: `visitor-${forms}@example${forms}.com` });
      const response = await postJson(page.url + API.leads, form, { connection: 'close' });
      return response.status === 202 ? null : `form: ${response.status} ${await response.text()}`;
    };
    const kept = () => get({});
    const fresh = () => get({ connection: 'close' });
    const stream = repeatRequests([kept, kept, kept, kept, fresh, fresh, fresh, fresh, post, post]);
    try {
      await eventually(() => forms > 1);
      await page.restart();
      const before = forms;
      await eventually(() => forms > before + 1);
      assert.deepEqual(await stream.stop(), []);
    } finally {
      await stream.stop();
      await page.stop();
    }
    assert.equal(page.processes().length, 2);
  }));

it('a start on two systemd sockets warns that only the first one is served', () =>
  inFolder(async (folder) => {
    const page = await startOnHeldSocket(SETTINGS, folder, { socketCount: 2 });
    await page.stop();
    const { port } = new URL(page.url);
    assert.match(
      page.output(),
      new RegExp(`"level":40,.*"systemd passes 2 sockets, but the page serves only port ${port}\\. `),
    );
  }));

it('a running server loads no more modules, so "npm ci" can replace packages', () =>
  inFolder(async (folder) => {
    await using inbox = await startInbox();
    await using receiver = await startReceiver();
    const tell = `import { registerHooks } from 'node:module';
      registerHooks({ load(url, context, next) {
        if (!url.startsWith('node:')) process.stdout.write('Loaded ' + url + '\\n');
        return next(url, context);
      } });`;
    const env = {
      ...SETTINGS,
      ...webhooksAt(receiver),
      SMTP_URL: inbox.url,
      GUIDE_EMAIL: 'link',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(tell)}`,
    };
    const site = await startSiteProcess(env, folder);
    try {
      const headers = { cookie: await becomeLeadAt(site.url, inbox) };
      await eventually(async () => (await fetch(`${site.url}${API.article}`, { headers })).status === 200);
      await inbox.waitForMail('ada@example.com', 2);
      await eventually(() => receiver.received.length >= 1);
      assert.equal((await fetch(`${site.url}/nothing-here`)).status, 404);
    } finally {
      assert.equal(await site.stop('SIGTERM'), 0);
    }
    const [before = '', after = ''] = site.output().split(/^.*"msg":"Ready on .*$/m);
    assert.match(before, /^Loaded file:.*\/server\/startup\/main\.ts$/m);
    assert.deepEqual(after.match(/^Loaded .*$/gm), null);
  }));
