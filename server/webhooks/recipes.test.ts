// Checks docs/webhooks.md against a real event.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

import { PROJECT_FOLDER } from '#server/platform/files.ts';
import { LEAD_EVENT_TYPES } from '#server/platform/lead-event-types.ts';
import { endpointsOf } from '#server/webhooks/webhook-events.ts';
import { createWebhookSender } from '#server/webhooks/webhook-sender.ts';
import { VISIT_HEADER, WITH_ARTICLE } from '#shared/api.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { inFolder } from '#testing/folder.ts';
import { freePort } from '#testing/free-port.ts';
import { withServer } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { webhooksAt } from '#testing/webhook-leads.ts';
import { startReceiver, type Received } from '#testing/webhook-receiver.ts';

const DOCUMENT = readFileSync(path.join(PROJECT_FOLDER, 'docs', 'webhooks.md'), 'utf8');
const EMAIL = 'ada@gmail.com';

const blocksAfter = (mark: string): string[] =>
  [...DOCUMENT.matchAll(new RegExp(`<!-- ${mark} -->\\n+\`\`\`json\\n([^]*?)\`\`\``, 'g'))].map(
    ([, block = '']) => block,
  );

async function sendEvent(): Promise<Received> {
  await using receiver = await startReceiver();
  const env = { ...webhooksAt(receiver), FREE_MAIL: 'flag' };
  await withServer({ engine: 'sqlite', env }, async (server) => {
    const headers = {
      [VISIT_HEADER]: 'last=utm_source%3Dnewsletter%26utm_medium%3Demail',
      prefer: WITH_ARTICLE,
    };
    await becomeLead(server, EMAIL, 1, { form: { name: 'Ada "Countess" Lovelace' }, headers });
    await until(() => receiver.received.length > 0);
  });
  return receiver.received[0]!;
}
const { event, text } = await sendEvent();

const valueAt = (value: unknown, dotted: string): unknown =>
  dotted
    .split('.')
    .reduce<unknown>(
      (at, name) =>
        typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[name] : undefined,
      value,
    );

function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.entries(value).map(([name, part]) => [name, shapeOf(part)]);
}

it('the webhook guide shows an event as it is sent', () => {
  const [example = ''] = blocksAfter('event');
  assert.deepEqual(shapeOf(JSON.parse(example)), shapeOf(event));
});

it('the webhook guide explains exactly the existing event types', () => {
  const explained = [...DOCUMENT.matchAll(/^\| `(lead\.\w+)`/gm)].map(([, type]) => type);
  assert.deepEqual(explained, LEAD_EVENT_TYPES);
});

it('the webhook guide names only fields that an event has', () => {
  const named = [...DOCUMENT.matchAll(/\bdata(?:\.|__)lead[a-z_.]*[a-z]/g)].map(([name]) =>
    name.replaceAll('__', '.'),
  );
  assert.ok(new Set(named).size > 8);
  for (const name of named) assert.notEqual(valueAt(event, name), undefined, name);
});

it('the request bodies in the webhook guide are valid once a lead is filled in', () => {
  const recipes = blocksAfter('recipe').map((recipe) => {
    const filled = recipe.replaceAll(/"\{\{([a-z_.]+)\}\}"/g, (_, name: string) =>
      JSON.stringify(valueAt(event, name)),
    );
    assert.doesNotMatch(filled, /\{\{|undefined/);
    return JSON.parse(filled) as unknown;
  });
  const names = { first: 'Ada "Countess"', last: 'Lovelace', company: 'Analytical Engines' };
  assert.deepEqual(recipes, [
    {
      inputs: [
        {
          idProperty: 'email',
          id: EMAIL,
          properties: {
            email: EMAIL,
            firstname: names.first,
            lastname: names.last,
            company: names.company,
          },
        },
      ],
    },
    {
      FirstName: names.first,
      LastName: names.last,
      Company: names.company,
      Email: EMAIL,
      LeadSource: 'newsletter',
    },
  ]);
});

it('the receiver in the webhook guide, as printed, accepts each signed event once', () =>
  inFolder(async (folder) => {
    const [, code = ''] = /```js\n([^]*?)```/.exec(DOCUMENT) ?? [];
    writeFileSync(path.join(folder, 'receiver.mjs'), code);
    symlinkSync(path.join(PROJECT_FOLDER, 'node_modules'), path.join(folder, 'node_modules'));
    const port = await freePort();
    const secret = 'whsec_bmV3LXNlY3JldC1uZXctc2VjcmV0LW5ldw==';
    const child = spawn(process.execPath, ['receiver.mjs'], {
      cwd: folder,
      env: { PATH: process.env['PATH'], PORT: String(port), WEBHOOK_SECRET: secret },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    const unsigned = () =>
      fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: text }).then(
        ({ status }) => status,
        () => null,
      );
    await until(async () => (await unsigned()) === 401);
    const [endpoint] = endpointsOf([`http://127.0.0.1:${port}/`]);
    const answers: string[] = [];
    for (const signedWith of [secret, secret, 'whsec_c3RyYW5nZXItc3RyYW5nZXItc3RyYW5nZXI=']) {
      const send = createWebhookSender({ secrets: [signedWith], allowPrivate: true });
      const delivery = { id: 'one', body: text, now: Date.now() };
      const { response } = await send(endpoint!, delivery, new AbortController().signal);
      answers.push(response);
    }
    child.kill();
    await once(child, 'exit');
    assert.deepEqual(answers, ['204', '204', '401']);
    assert.equal(out, `lead.verified ${event.data.lead.id}\n`);
  }));
