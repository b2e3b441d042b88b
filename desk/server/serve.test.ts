import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { it } from 'node:test';

import { COOKIE_HEADERS } from '#desk/endpoints/auth.ts';
import { API } from '#shared/api.ts';
import { freePort } from '#testing/free-port.ts';
import { codeIn } from '#testing/inbox.ts';
import { startSite } from '#testing/start-site.ts';
import { until } from '#testing/until.ts';

const PATIENCE_MS = 60_000;
const ADA = 'ada@example.com';

const settingsFor = (port: number) => ({
  DESK_URL: `http://127.0.0.1:${port}`,
  DESK_PORT: String(port),
  DESK_PEOPLE: `${ADA}:all`,
});

const desksIn = (output: string): number[] => [
  ...new Set(Array.from(output.matchAll(/"pid":(\d+),[^\n]*"part":"desk"/g), ([, pid]) => Number(pid))),
];

const answers = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(`${url}/api/me`)).status === 401;
  } catch {
    return false;
  }
};

const post = (url: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

const keptOf = (response: Response, name: string) => ({ [name]: response.headers.get(name) ?? '' });

it('the desk process waits for its port, restarts after a crash and ends with the site', async () => {
  const port = await freePort();
  const env = settingsFor(port);
  const other = createServer().listen(port, '127.0.0.1');
  await once(other, 'listening');
  const site = await startSite({ env });
  try {
    assert.equal((await fetch(site.url + API.health)).status, 200, 'another program holds the port');
    other.close();
    await until(() => answers(env.DESK_URL), PATIENCE_MS);
    const asked = await post(`${env.DESK_URL}/api/sign-in`, { email: ADA });
    const code = codeIn(await site.inbox.waitForMail(ADA));
    const entered = await post(
      `${env.DESK_URL}/api/sign-in/code`,
      { code },
      keptOf(asked, COOKIE_HEADERS.signIn),
    );
    assert.equal(entered.status, 200);
    const headers = keptOf(entered, COOKIE_HEADERS.session);
    const [first] = desksIn(site.output());
    assert.ok(first !== undefined && first !== site.child.pid);

    process.kill(first, 'SIGKILL');
    await until(() => /The desk process ended and will be restarted/.test(site.output()), PATIENCE_MS);
    assert.equal((await fetch(site.url + API.health)).status, 200, 'the page does not depend on it');
    await until(() => answers(env.DESK_URL), PATIENCE_MS);
    const me = await fetch(`${env.DESK_URL}/api/me`, { headers });
    assert.equal(me.status, 200, 'the session is in the database');

    assert.equal(await site.stop(), 0);
    assert.equal(await answers(env.DESK_URL), false);
  } finally {
    await site.close();
  }
});
