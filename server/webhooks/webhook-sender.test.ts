import assert from 'node:assert/strict';
import { Resolver } from 'node:dns';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { it } from 'node:test';

import { Webhook } from 'standardwebhooks';

import { kindOfAddress, type ResolveName } from '#server/platform/ip-addresses.ts';
import { endpointsOf, testEvent } from '#server/webhooks/webhook-events.ts';
import { createWebhookSender, type WebhookSendOutcome } from '#server/webhooks/webhook-sender.ts';
import { TEST_CERTIFICATE, TEST_KEY } from '#testing/certificate.ts';
import { withDnsServer, type DnsServer, type NameRecords } from '#testing/dns-server.ts';
import { listening } from '#testing/listening.ts';
import { startReceiver, withReceiver } from '#testing/webhook-receiver.ts';
import { words } from '#testing/words.ts';

const SECRETS = ['whsec_bmV3LXNlY3JldC1uZXctc2VjcmV0LW5ldw==', 'whsec_b2xkLXNlY3JldC1vbGQtc2VjcmV0LW9sZA=='];
const BODY = JSON.stringify(
  testEvent(Date.now(), {
    unsubscribeUrl: (id) => `https://guide.example.com/${id}`,
    fields: [],
    hasNews: false,
  }),
);

function send(
  url: string,
  options: { allowPrivate?: boolean; resolve?: ResolveName; timeoutMs?: number } = {},
  body = BODY,
  now = Date.now(),
): Promise<WebhookSendOutcome> {
  const sendTo = createWebhookSender({ secrets: SECRETS, allowPrivate: true, ...options });
  const [endpoint] = endpointsOf([url]);
  const { signal } = new AbortController();
  return sendTo(endpoint!, { id: 'message-1', body, now }, signal);
}

const failed = (response: string): WebhookSendOutcome => ({
  type: 'failed for now',
  response,
  retryAfterMs: null,
});

const resolveHere: ResolveName = (_, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);

function resolverAt({ address }: DnsServer): ResolveName {
  const resolver = new Resolver();
  resolver.setServers([address]);
  return (hostname, callback) => {
    resolver.resolve4(hostname, (error, addresses) =>
      callback(
        error,
        (addresses ?? []).map((one) => ({ address: one, family: 4 })),
      ),
    );
  };
}

async function withRawServer(
  serve: (socket: Socket) => void,
  test: (url: string) => Promise<void>,
): Promise<void> {
  await using server = await listening(createServer(serve));
  await test(`http://127.0.0.1:${server.port}/`);
}

it('a webhook event is signed with every secret', () =>
  withReceiver(undefined, async (receiver) => {
    assert.deepEqual(await send(receiver.url), { type: 'sent', response: '204' });
    const [{ text, headers } = assert.fail()] = receiver.received;
    assert.equal(text, BODY);
    assert.equal(headers['content-type'], 'application/json');
    const verify = (secret: string, payload: string) =>
      new Webhook(secret).verify(payload, headers as Record<string, string>);
    for (const secret of SECRETS) assert.deepEqual(verify(secret, text), JSON.parse(BODY));
    const stranger = 'whsec_c3RyYW5nZXItc3RyYW5nZXItc3RyYW5nZXI=';
    assert.throws(() => verify(stranger, text), /No matching signature/);
    assert.throws(() => verify(SECRETS[0]!, `${text} `), /No matching signature/);
  }));

it('a webhook event for Slack mentions nobody and keeps joiners, whatever a visitor typed', () =>
  withReceiver(undefined, async (receiver) => {
    const event = JSON.parse(BODY) as ReturnType<typeof testEvent>;
    const lead = {
      ...event.data.lead,
      name: '<!channel> & co\nemail: eve@example.com',
      company: 'می\u200Cنو 👩\u200D💻',
    };
    const url = `http://hooks.slack.com:${receiver.port}/services/T/B/x`;
    const body = JSON.stringify({ ...event, data: { lead } });
    assert.equal((await send(url, { resolve: resolveHere }, body)).type, 'sent');

    assert.deepEqual(JSON.parse(receiver.received[0]!.text), {
      text: [
        'lead.test',
        'name: &lt;!channel&gt; &amp; co email: eve@example.com',
        'company: می\u200Cنو 👩\u200D💻',
        'email: ada@example.com',
        'source: newsletter',
      ].join('\n'),
      mrkdwn: false,
      unfurl_links: false,
      unfurl_media: false,
    });
  }));

it('a webhook event follows no redirect', async () => {
  await using inside = await startReceiver();
  for (const status of [301, 302, 303, 307, 308])
    await withReceiver(
      (_, response) => void response.writeHead(status, { location: inside.url }).end(),
      async ({ url, received }) => {
        assert.deepEqual(await send(url), failed(`${status}: redirects are not followed`));
        assert.equal(received.length, 1);
      },
    );
  assert.equal(inside.received.length, 0);
});

it('a webhook event is done after 2xx, dead after 410 and otherwise retried when Retry-After says', async () => {
  const now = Date.UTC(2026, 10, 28, 15);
  const later = (response: string, retryAfterMs: number) => ({ ...failed(response), retryAfterMs });
  for (const [status, outcome, retryAfter] of [
    [200, { type: 'sent', response: '200' }],
    [410, { type: 'gone', response: '410' }],
    [404, failed('404')],
    [500, failed('500')],
    [429, later('429', 120_000), '120'],
    [503, later('503', 86_400_000_000), '86400000'],
    [503, later('503', 5_400_000), 'Sat, 28 Nov 2026 16:30:00 GMT'],
    [503, failed('503'), 'tomorrow'],
    [503, failed('503'), '-5'],
  ] as const)
    await withReceiver(
      (_, response) =>
        void response.writeHead(status, retryAfter && { 'retry-after': retryAfter }).end('{"ok":true}'),
      async ({ url }) => assert.deepEqual(await send(url, {}, BODY, now), outcome),
    );
});

it('a webhook event times out at any point where the receiver hangs', async () => {
  const hanging: readonly ((socket: Socket) => void)[] = [
    () => {},
    (socket) => void socket.write('HTTP/1.1 200 O'),
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('x-more: of it\r\n'), 20);
      socket.once('close', () => clearInterval(timer));
    },
    (socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 20);
      socket.once('close', () => clearInterval(timer));
    },
  ];
  for (const serve of hanging)
    await withRawServer(serve, async (url) =>
      assert.deepEqual(await send(url, { timeoutMs: 300 }), failed('timed out')),
    );
  const unresolved = await send('http://hook.example/', { resolve: () => {}, timeoutMs: 300 });
  assert.deepEqual(unresolved, failed('timed out'));
});

it('a webhook event is done once accepted, even if the response never ends', () =>
  withRawServer(
    (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nx'),
    async (url) => assert.deepEqual(await send(url, { timeoutMs: 300 }), { type: 'sent', response: '200' }),
  ));

it('a webhook event is retried after a truncated or invalid response', async () => {
  await withRawServer(
    (socket) => socket.destroy(),
    async (url) => assert.equal((await send(url)).type, 'failed for now'),
  );
  await withRawServer(
    (socket) => void socket.end('220 mail.example ESMTP\r\n'),
    async (url) => assert.match((await send(url)).response, /^HPE_/),
  );
  await withRawServer(
    (socket) => void socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`),
    async (url) => assert.deepEqual(await send(url), failed('HPE_HEADER_OVERFLOW')),
  );
  let closedUrl = '';
  await withRawServer(
    () => {},
    async (url) => void (closedUrl = url),
  );
  assert.deepEqual(await send(closedUrl), failed('ECONNREFUSED'));
  const withPercent = closedUrl.replace('://', '://user:100%@');
  assert.deepEqual(await send(withPercent), failed('URIError'), 'an unencoded password');
});

it('a webhook event is not sent to a server without a trusted certificate', async () => {
  const taken: string[] = [];
  await using server = await listening(
    createHttpsServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, ({ url }) => taken.push(url ?? '')),
  );
  const outcome = await send(`https://localhost:${server.port}/`, { resolve: resolveHere });
  assert.deepEqual(outcome, failed('DEPTH_ZERO_SELF_SIGNED_CERT'));
  assert.deepEqual(taken, []);
});

it('the IP address of a webhook receiver is classified as public, private or never allowed', () => {
  const kinds = {
    public: words(`
      8.8.8.8 2606:4700:4700::1111 64:ff9b::808:808 ::ffff:8.8.8.8 ::808:808 ::8.8.8.8`),
    private: words(`
      127.0.0.1 127.255.0.9 10.1.2.3 172.31.255.255 192.168.0.1 100.64.0.1 ::1 fd12:3456::1
      ::ffff:127.0.0.1 ::ffff:a00:1 64:ff9b::10.0.0.1 ::7f00:1 ::127.0.0.1 ::a00:1`),
    never: [
      '',
      ...words(`
      0.0.0.0 :: 169.254.169.254 ::ffff:169.254.169.254 64:ff9b::169.254.169.254 168.63.129.16
      100.100.100.200 64:ff9b::100.100.100.200 fd00:ec2::254 fd00:ec2::23 fd20:ce::254
      fd00:c1::a9fe:a9fe fd00:42::42 fd00:a9fe:a9fe::1 fd00:100::100:200 ::a9fe:a9fe
      ::100.100.100.200 4000::1 fe80::1 fec0::1 224.0.0.1 ff02::1 255.255.255.255 240.0.0.1
      192.0.2.1 192.0.0.192 198.18.0.1 2001:db8::1 2002:7f00:1:: 2001::1 localhost`),
    ],
  };
  for (const [kind, addresses] of Object.entries(kinds))
    for (const address of addresses) assert.equal(kindOfAddress(address), kind, address);
});

it('the IP address of a webhook receiver may be private only if the operator allows it', () =>
  withReceiver(undefined, async ({ port, received }) => {
    for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', '0x7f.1', '2130706433', '[::1]'])
      assert.deepEqual(
        await send(`https://${host}:${port}/`, { allowPrivate: false }),
        failed('refused: private IP address'),
        host,
      );
    for (const host of ['0.0.0.0', '169.254.169.254', '[fe80::1]', '[fd00:ec2::254]', '[::a9fe:a9fe]'])
      assert.deepEqual(
        await send(`http://${host}:${port}/`),
        failed('refused: this IP address is never allowed'),
        host,
      );
    assert.deepEqual(await send('http://8.8.8.8/'), failed('refused: public IP address without encryption'));
    assert.equal(received.length, 0);
  }));

it('a webhook event is not sent to a host name that switches to a private IP address', () =>
  withReceiver(undefined, async ({ port, received }) => {
    let home: readonly string[] = ['8.8.8.8', '127.0.0.1'];
    const zone: Record<string, NameRecords> = {
      'rebinding.example': {
        get A() {
          return home;
        },
      },
    };
    await withDnsServer(zone, async (server) => {
      const resolve = resolverAt(server);
      const https = `https://rebinding.example:${port}/`;
      const http = `http://rebinding.example:${port}/`;
      const refused = failed('refused: private IP address');
      assert.deepEqual(await send(https, { resolve, allowPrivate: false }), refused);
      home = ['127.0.0.1'];
      assert.deepEqual(await send(https, { resolve, allowPrivate: false }), refused);
      assert.equal(received.length, 0);
      // One lookup per connection: the checked address is the one called.
      assert.deepEqual(server.questions, ['A rebinding.example', 'A rebinding.example']);
      assert.deepEqual(await send(http, { resolve }), { type: 'sent', response: '204' });
      assert.equal(server.questions.length, 3);
      home = ['169.254.169.254'];
      assert.deepEqual(await send(http, { resolve }), failed('refused: this IP address is never allowed'));
      assert.deepEqual(await send('http://nobody.example/', { resolve }), failed('ENOTFOUND'));
      assert.equal(received.length, 1);
    });
  }));
