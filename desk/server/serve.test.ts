import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { it } from 'node:test';

import { startDeskProcess } from '#server/startup/desk-process.ts';
import { API } from '#shared/api.ts';
import { signInOverHttp, untilDeskAnswers } from '#testing/desk-over-http.ts';
import { freePort } from '#testing/free-port.ts';
import { codeIn } from '#testing/inbox.ts';
import { startSite } from '#testing/start-site.ts';
import { isServed, until } from '#testing/until.ts';

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

it('the desk process waits for its port, restarts after a crash and ends with the site', async () => {
  const port = await freePort();
  const env = settingsFor(port);
  const live = env.DESK_URL + API.live;
  const other = createServer().listen(port, '127.0.0.1');
  await once(other, 'listening');
  const site = await startSite({ env });
  try {
    assert.equal((await fetch(site.url + API.health)).status, 200, 'another program holds the port');
    other.close();
    await untilDeskAnswers(live);
    const mailedCode = async () => codeIn(await site.inbox.waitForMail(ADA));
    const headers = await signInOverHttp(env.DESK_URL, ADA, mailedCode);
    const [first] = desksIn(site.output());
    assert.ok(first !== undefined && first !== site.child.pid);

    process.kill(first, 'SIGKILL');
    await until(() => /The desk process ended and will be restarted/.test(site.output()), PATIENCE_MS);
    assert.equal((await fetch(site.url + API.health)).status, 200, 'the page does not depend on it');
    await untilDeskAnswers(live);
    const me = await fetch(`${env.DESK_URL}/api/me`, { headers });
    assert.equal(me.status, 200, 'the session is in the database');

    assert.equal(await site.stop(), 0);
    assert.equal(await isServed(live), false);
  } finally {
    await site.close();
  }
});

it('the page keeps running while the system cannot start its desk', async () => {
  const reports: unknown[] = [];
  // One of the errors that Node throws instead of emitting it, like those for a lack of memory or an unfinished update of Node.
  process.env['TOO_LONG'] = 'x'.repeat(4_000_000);
  const desk = startDeskProcess({ error: (report: unknown) => void reports.push(report) });
  delete process.env['TOO_LONG'];
  await desk.stop();
  assert.match(JSON.stringify(reports), /E2BIG/);
});
