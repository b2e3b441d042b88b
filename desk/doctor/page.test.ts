import assert from 'node:assert/strict';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer } from 'node:net';
import { it } from 'node:test';

import { examinePublicUrl } from '#desk/doctor/page.ts';
import { createDns } from '#server/platform/dns.ts';
import {
  TEST_CERTIFICATE,
  TEST_KEY,
  TEST_SITE_CERTIFICATE as CERTIFICATE,
  TEST_SITE_CERTIFICATE_OF_2020 as OLD_CERTIFICATE,
  TEST_SITE_KEY as KEY,
} from '#testing/certificate.ts';
import { startDnsServer, type NameRecords } from '#testing/dns-server.ts';
import { freePort } from '#testing/free-port.ts';
import { listening } from '#testing/listening.ts';

const NOW = Date.UTC(2026, 10, 23);

const isOurs: RequestListener = (request, response) => {
  const here = request.headers.host?.startsWith('guide.example.com:') && request.url === '/guide/api/live';
  response.writeHead(here ? 200 : 404, { 'content-type': 'application/json' }).end('{"status":"ok"}');
};

const secured = (certificate: string, key = KEY, answer = isOurs) =>
  listening(createHttpsServer({ cert: certificate, key }, answer));

const AT_HOME: Readonly<Record<string, NameRecords>> = { 'guide.example.com': { A: ['127.0.0.1'] } };

async function found(
  port: number,
  {
    zone = AT_HOME,
    httpPort = port,
    now = NOW,
    trustProxy = 1,
    publicUrl = `https://guide.example.com:${port}/guide`,
    smtpUrl = 'smtp://127.0.0.1:25',
  }: {
    zone?: Readonly<Record<string, NameRecords>>;
    httpPort?: number;
    now?: number;
    trustProxy?: number | false;
    publicUrl?: string;
    smtpUrl?: string;
  } = {},
): Promise<string[]> {
  await using server = await startDnsServer(zone);
  const limit = new AbortController();
  const examined = await examinePublicUrl(
    { publicUrl, basePath: '/guide', trustProxy, mail: { kind: 'smtp', url: smtpUrl, dkim: null } },
    { dns: createDns([server.address], limit.signal), now, signal: limit.signal, httpPort, ca: CERTIFICATE },
  );
  limit.abort();
  return [examined].flat().map(({ check, state, sentence }) => `${state} ${check}: ${sentence}`);
}

it('the doctor accepts a trusted certificate and a redirect from http to https', async () => {
  await using site = await secured(CERTIFICATE);
  await using plain = await listening(
    createHttpServer((request, response) => {
      response.writeHead(308, { location: `https://guide.example.com${request.url}` }).end();
    }),
  );
  assert.deepEqual(await found(site.port, { httpPort: plain.port }), [
    `ok address: The page is reachable at https://guide.example.com:${site.port}/guide, and its certificate is valid for ${Math.floor((Date.UTC(2120, 0, 1) - NOW) / 86_400_000)} more days.`,
    'ok address: http://guide.example.com redirects to https.',
  ]);
});

it('the doctor warns about a certificate that expires soon', async () => {
  await using site = await secured(CERTIFICATE);
  const [first] = await found(site.port, { now: Date.UTC(2119, 11, 25) });
  assert.equal(
    first,
    'warning address: The certificate of guide.example.com expires in 7 days and has not been renewed. After that, browsers will refuse the page. Find out why the proxy does not renew the certificate.',
  );
});

for (const [title, certificate, key, name, sentence] of [
  [
    'has expired',
    OLD_CERTIFICATE,
    KEY,
    'guide',
    'The certificate of guide.example.com has expired, so browsers refuse the page. Renew the certificate.',
  ],
  [
    'is not trusted',
    TEST_CERTIFICATE,
    TEST_KEY,
    'guide',
    'Browsers do not trust the certificate of guide.example.com (DEPTH_ZERO_SELF_SIGNED_CERT). Get one from an authority such as Let’s Encrypt, and make the proxy send the whole certificate chain.',
  ],
  [
    'is for another name',
    CERTIFICATE,
    KEY,
    'other',
    'The certificate of other.example.com was issued for guide.example.com, so browsers refuse the page. Get a certificate for other.example.com.',
  ],
] as const)
  it(`the doctor says that browsers refuse a certificate that ${title}`, async () => {
    await using site = await secured(certificate, key);
    const publicUrl = `https://${name}.example.com:${site.port}/guide`;
    const zone = { [`${name}.example.com`]: { A: ['127.0.0.1'] } };
    assert.deepEqual(await found(site.port, { publicUrl, zone }), [`problem address: ${sentence}`]);
  });

it('the doctor reports that another server or no server responds at PUBLIC_URL', async () => {
  await using other = await secured(CERTIFICATE, KEY, (_request, response) => {
    response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
  });
  assert.deepEqual((await found(other.port)).slice(0, 1), [
    `problem address: The response from https://guide.example.com:${other.port}/guide (status 502) is not from this site. Make the proxy forward requests, including their path, to this site’s port.`,
  ]);
  const port = await freePort();
  assert.deepEqual(await found(port), [
    `problem address: No web server responds at https://guide.example.com:${port}/guide (ECONNREFUSED). Start the proxy, and open its port in the firewall.`,
  ]);
  await using ssh = await listening(createServer((socket) => void socket.end('SSH-2.0-OpenSSH_9.6\r\n')));
  const publicUrl = `http://guide.example.com:${ssh.port}/guide`;
  assert.deepEqual(await found(ssh.port, { publicUrl }), [
    `problem address: No web server responds at ${publicUrl} (HPE_INVALID_CONSTANT). Start the proxy, and open its port in the firewall.`,
  ]);
});

it('the doctor reports a port that speaks http if PUBLIC_URL uses https', async () => {
  await using plain = await listening(createHttpServer((_, response) => response.end('the page')));
  assert.deepEqual(await found(plain.port), [
    `problem address: https://guide.example.com:${plain.port}/guide responds without TLS, or has no certificate for guide.example.com. Get one, make the proxy serve https, or correct the port in PUBLIC_URL.`,
  ]);
});

it('the doctor reports a host name that does not resolve and a DNS failure', async () => {
  assert.deepEqual(await found(443, { zone: {} }), [
    'problem address: guide.example.com does not resolve to an IP address, so visitors cannot reach the page. Publish an A record (and an AAAA record for IPv6) with the IP address of this machine or of the proxy in front of it.',
  ]);
  const silent = await found(443, { zone: { 'guide.example.com': { fault: 'SERVFAIL' } } });
  assert.match(
    silent.join(''),
    /^warning address: DNS could not resolve guide\.example\.com \(.+\)\. Try again/,
  );
});

it('the doctor warns about a page that is reachable without https, and about a missing TRUST_PROXY', async () => {
  await using site = await secured(CERTIFICATE);
  await using plain = await listening(createHttpServer((_, response) => response.end('the page')));
  assert.deepEqual((await found(site.port, { httpPort: plain.port, trustProxy: false })).slice(1), [
    'warning address: http://guide.example.com does not redirect to https, so what visitors type there is not encrypted. Make the proxy redirect to https (status 308).',
    'warning address: PUBLIC_URL uses https, so there is a proxy in front of the site, but TRUST_PROXY is not set. All visitors are counted as one network. Set TRUST_PROXY to 1 or to the proxy’s network.',
  ]);
});

it('the doctor does not check a local PUBLIC_URL', async () => {
  assert.deepEqual(await found(1, { publicUrl: 'http://localhost:3000/guide', zone: {} }), [
    'note address: PUBLIC_URL points to this machine, so it was not tested from outside.',
  ]);
  const smtpUrl = 'smtps://smtp.example.com';
  assert.deepEqual(await found(1, { publicUrl: 'http://localhost:3000', smtpUrl, zone: {} }), [
    'problem address: Links in e-mails lead to http://localhost:3000, which visitors cannot open. Set PUBLIC_URL to the address of the site, such as https://guide.example.com.',
  ]);
});
