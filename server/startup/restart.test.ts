import assert from 'node:assert/strict';
import { it } from 'node:test';

import { API } from '#shared/api.ts';
import { inFolder } from '#testing/folder.ts';
import { startOnHeldSocket, streamOf } from '#testing/held-socket.ts';
import { codeIn, startInbox } from '#testing/inbox.ts';
import { filledForm, TEST_SECRET } from '#testing/server-under-test.ts';
import { startSiteProcess } from '#testing/start-site.ts';
import { until } from '#testing/until.ts';
import { startReceiver } from '#testing/webhook-receiver.ts';

const SETTINGS = { APP_SECRET: TEST_SECRET, MAIL_FROM: 'guide@example.com' };
const PATIENCE_MS = 60_000;
const eventually = (holds: () => boolean | Promise<boolean>) => until(holds, PATIENCE_MS);
const RESTARTS = 2;

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
      const response = await fetch(page.url + API.leads, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify(filledForm({ email: `visitor-${forms}@example${forms}.com` })),
      });
      return response.status === 202 ? null : `form: ${response.status} ${await response.text()}`;
    };
    const kept = () => get({});
    const fresh = () => get({ connection: 'close' });
    const stream = streamOf([kept, kept, kept, kept, fresh, fresh, fresh, fresh, post, post]);
    try {
      for (let count = 0; count < RESTARTS; count += 1) {
        const before = forms;
        await eventually(() => forms > before + 1);
        await page.restart();
      }
      assert.deepEqual((await stream.stop()).failed, []);
    } finally {
      await stream.stop();
      await page.stop();
    }
    assert.equal(page.processes().length, RESTARTS + 1);
  }));

it('a running server loads no more modules, so "npm ci" can replace packages', async () => {
  const inbox = await startInbox();
  const receiver = await startReceiver();
  const tell = `import { registerHooks } from 'node:module';
    registerHooks({ load(url, context, next) {
      if (!url.startsWith('node:')) process.stdout.write('Loaded ' + url + '\\n');
      return next(url, context);
    } });`;
  const env = {
    ...SETTINGS,
    SMTP_URL: inbox.url,
    GUIDE_EMAIL: 'link',
    WEBHOOK_URLS: receiver.url,
    WEBHOOK_ALLOW_PRIVATE: 'yes',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(tell)}`,
  };
  try {
    await inFolder(async (folder) => {
      const site = await startSiteProcess(env, folder);
      const post = (address: string, body: object, cookie = '') =>
        fetch(`${site.url}${address}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', cookie },
          body: JSON.stringify(body),
        });
      const cookieOf = (response: Response) =>
        response.headers
          .getSetCookie()
          .map((line) => line.split(';', 1)[0])
          .join('; ');
      try {
        const asked = await post(API.leads, filledForm());
        const code = codeIn(await inbox.waitForMail('ada@example.com'));
        const verified = await post(API.verify, { email: 'ada@example.com', code }, cookieOf(asked));
        assert.deepEqual([asked.status, verified.status], [202, 200]);
        const headers = { cookie: cookieOf(verified) };
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
    });
  } finally {
    await inbox.close();
    await receiver.close();
  }
});
