import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';

import { createDns, type Dns } from '#server/platform/dns.ts';
import { examineDkim } from '#desk/doctor/dkim.ts';
import { examineDmarc } from '#desk/doctor/dmarc.ts';
import type { Findings } from '#desk/doctor/finding.ts';
import type { Finding } from '#desk/endpoints/figures.ts';
import { examineMailExchange } from '#desk/doctor/mail-exchange.ts';
import { examineReverseDns } from '#desk/doctor/reverse-dns.ts';
import { examineSpf } from '#desk/doctor/spf.ts';
import { startDnsServer, type NameRecords } from '#testing/dns-server.ts';

type Zone = Readonly<Record<string, NameRecords>>;

async function finds(zone: Zone, examination: (dns: Dns) => Promise<Findings>): Promise<readonly Finding[]> {
  await using server = await startDnsServer(zone);
  return [await examination(createDns([server.address], new AbortController().signal))].flat();
}

function only(findings: readonly Finding[]): Finding {
  assert.equal(findings.length, 1, JSON.stringify(findings, null, 2));
  return findings[0]!;
}

const domain = 'example.com';

describe('MX checks', () => {
  const mx = async (zone: Zone, mailHost = 'mail.example.com') =>
    only(await finds(zone, (dns) => examineMailExchange(dns, { domain, mailHost })));
  const one = { A: ['192.0.2.1'] };
  const ours = '10 mail.example.com';
  const served = (...records: string[]): NameRecords => ({
    MX: records.map((record) => record.split(' ')).map(([at, name = '']) => [Number(at), name]),
  });

  for (const [zone, state, sentence, publish] of [
    [
      {
        'example.com': served('20 two.example.com', '10 one.example.com'),
        'one.example.com': one,
        'two.example.com': { AAAA: ['2001:db8::2'] },
      },
      'ok',
      /^Mail to example\.com goes to one\.example\.com, two\.example\.com\.$/,
    ],
    [{ 'example.com': {} }, 'problem', /\S/, ours],
    [{}, 'problem', /^example\.com does not exist in DNS.* in MAIL_FROM or BOUNCE_DOMAIN,/, ours],
    [{ 'example.com': served('0 .') }, 'problem', /\S/, ours],
    [
      { 'example.com': served('10 gone.example.com') },
      'problem',
      /names gone\.example\.com, which has no IP address/,
      ours,
    ],
    [{ 'example.com': one }, 'warning', /\S/, ours],
    [
      { 'example.com': served('10 one.example.com', '20 gone.example.com'), 'one.example.com': one },
      'warning',
      /gone\.example\.com/,
    ],
  ] as readonly (readonly [Zone, Finding['state'], RegExp, string?])[])
    it(`the doctor reports "${state}" for the MX records ${JSON.stringify(zone)}`, async () => {
      const found = await mx(zone);
      assert.equal(found.state, state);
      assert.match(found.sentence, sentence);
      assert.equal(found.publish?.value, publish);
    });

  it("the doctor suggests an MX record in the sender's domain even if mail uses a relay", async () => {
    const { state, publish } = await mx({ 'example.com': one }, 'smtp.relay.test');
    assert.deepEqual([state, publish], ['warning', { name: domain, type: 'MX', value: ours }]);
  });
});

describe('SPF checks', () => {
  const spf = async (zone: Zone) => only(await finds(zone, (dns) => examineSpf(dns, domain)));
  const of = (...records: string[]): Zone => ({ 'example.com': { TXT: records } });

  it('the doctor accepts an SPF record with at most ten lookups, counting its includes', async () => {
    const found = await spf({
      ...of('v=spf1 a:mail.example.com include:one.test -all', 'site-verification=v=spf1'),
      'mail.example.com': { A: ['192.0.2.1'] },
      'one.test': {
        TXT: ['v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/32 mx redirect=two.test'],
        MX: [[1, 'x.test']],
      },
      'two.test': { TXT: ['V=SPF1 exists:%{i}.list.test a/24//64 ?all'], A: ['192.0.2.9'] },
    });
    assert.equal(found.state, 'ok', found.sentence);
    assert.match(found.sentence, /^example\.com has one SPF record, with 6 of 10 lookups/);
  });

  it('the doctor reports a domain without an SPF record', async () => {
    const found = await spf(of('hello'));
    assert.equal(found.state, 'problem');
    assert.match(found.sentence, /^example\.com has no SPF record.* your mail provider asks for\.$/);
  });

  it('the doctor reports an SPF record with more than ten lookups', async () => {
    const names = Array.from({ length: 9 }, (_, n) => `n${n}.test`);
    const zone: Zone = {
      ...Object.fromEntries(names.map((name) => [name, { TXT: ['v=spf1 ip4:192.0.2.1 -all'] }])),
      'example.com': { TXT: ['v=spf1 mx include:big.test -all'], MX: [[1, 'mail.example.com']] },
      'big.test': { TXT: [`v=spf1 ${names.map((name) => `include:${name}`).join(' ')} -all`] },
    };
    const found = await spf(zone);
    assert.equal(found.state, 'problem');
    assert.match(found.sentence, /needs 11 DNS lookups, but mail servers ignore .* more than 10\./);
    const ten = await spf({ ...zone, ...of('v=spf1 include:big.test -all') });
    assert.equal(ten.state, 'ok', 'ten are allowed');
  });

  for (const [title, zone, sentence] of [
    ['has no record', { 'one.test': { TXT: ['hello'] } }, /includes one\.test, which has no SPF record/],
    [
      'has two records',
      { 'one.test': { TXT: ['v=spf1 -all', 'v=spf1 ~all'] } },
      /includes one\.test, which has several SPF records/,
    ],
    [
      'is broken',
      { 'one.test': { TXT: ['v=spf1 ip4:192.0.2 -all'] } },
      /contains the invalid term "ip4:192\.0\.2"/,
    ],
    [
      'cannot be looked up',
      { 'one.test': { fault: 'SERVFAIL' } },
      /^DNS did not reply to the query for one\.test/,
    ],
  ] as readonly (readonly [string, Zone, RegExp])[])
    it(`the doctor rejects an SPF record if an include ${title}`, async () => {
      const found = await spf({ ...of('v=spf1 ip4:192.0.2.1 include:one.test -all'), ...zone });
      assert.equal(found.state, 'problem');
      assert.match(found.sentence, sentence);
    });

  for (const term of ['ip4:192.0.2.1/33', 'ipv4:192.0.2.1', 'include:', 'all:x', 'redirect='])
    it(`the doctor reports the invalid SPF term "${term}"`, async () => {
      const found = await spf(of(`v=spf1 mx ${term} ~all`));
      assert.deepEqual([found.state, found.publish], ['problem', undefined]);
      assert.ok(found.sentence.includes(`contains the invalid term "${term}"`), found.sentence);
    });

  for (const end of [' +all', ' all', ' ?all', ''])
    it(`the doctor suggests another end for an SPF record that ends with "${end}"`, async () => {
      const { state, publish } = await spf(of(`v=spf1 ip4:192.0.2.1${end}`));
      assert.deepEqual([state, publish?.value], ['warning', 'v=spf1 ip4:192.0.2.1 ~all']);
    });

  for (const [first, merged] of [
    ['include:one.test mx -all', 'include:one.test mx ip4:192.0.2.1 ~all'],
    ['redirect=one.test', 'include:one.test ip4:192.0.2.1 mx ~all'],
  ] as const)
    it(`the doctor suggests merging the SPF record "${first}" with another one`, async () => {
      const { state, publish } = await spf(of(`v=spf1 ${first}`, 'v=spf1 ip4:192.0.2.1 mx ~all'));
      assert.deepEqual([state, publish?.value], ['problem', `v=spf1 ${merged}`]);
    });

  it('the doctor does not follow an endless chain of SPF includes', async () => {
    const zone: Record<string, NameRecords> = { ...of('v=spf1 include:n0.test -all') };
    for (let n = 0; n < 200; n += 1) zone[`n${n}.test`] = { TXT: [`v=spf1 include:n${n + 1}.test -all`] };
    await using server = await startDnsServer(zone);
    const dns = createDns([server.address], new AbortController().signal);
    assert.equal(only([await examineSpf(dns, domain)].flat()).state, 'problem');
    assert(server.questions.length < 60, `${server.questions.length} questions`);
  });
});

describe('DKIM checks', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'dkim-'));
  process.once('exit', () => rmSync(folder, { recursive: true }));
  const makeKey = (name: string) => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const file = path.join(folder, name);
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    return {
      dkim: { domainName: domain, keySelector: 'guide', privateKeyFile: file },
      spki: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
      pkcs1: publicKey.export({ type: 'pkcs1', format: 'der' }).toString('base64'),
    };
  };
  const ours = makeKey('ours.pem');
  const other = makeKey('other.pem');
  const name = 'guide._domainkey.example.com';
  const publish = { name, type: 'TXT', value: `v=DKIM1; k=rsa; p=${ours.spki}` };
  const dkim = async (TXT: readonly string[], key: typeof ours.dkim | null = ours.dkim) =>
    only(await finds({ [name]: { TXT } }, (dns) => examineDkim(dns, key)));

  for (const [records, state, sentence] of [
    [[publish.value], 'ok', /\S/],
    [[`v=DKIM1; h=sha1:sha256; s=email; p=${ours.pkcs1}`], 'ok', /\S/],
    [[`p=${ours.spki.slice(0, 100)} ${ours.spki.slice(100)}`], 'ok', /\S/],
    [[], 'problem', /^No DKIM key is published at guide\._domainkey\.example\.com/],
    [[`v=DKIM1; p=${other.spki}`], 'problem', /does not match DKIM_PRIVATE_KEY_FILE/],
    [['v=DKIM1; p='], 'problem', /was revoked/],
    [['v=DKIM1; k=rsa'], 'problem', /contains no readable key/],
    [['v=DKIM1; p=AAAA'], 'problem', /contains no readable key/],
    [
      ['v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='],
      'problem',
      /has k=ed25519, but DKIM_PRIVATE_KEY_FILE contains an RSA key\./,
    ],
    [[`v=DKIM1; k=rsa; h=sha1; p=${ours.spki}`], 'problem', /does not allow SHA-256 \(h=\)/],
    [[`v=DKIM2; p=${ours.spki}`], 'problem', /does not begin with v=DKIM1/],
    [[`v=DKIM1; p=${ours.spki}`, `v=DKIM1; p=${other.spki}`], 'problem', /There are 2 TXT records/],
  ] as const)
    it(`the doctor reports "${state}" for the DKIM records "${records.map((one) => one.slice(0, 30)).join('" and "')}"`, async () => {
      const found = await dkim(records);
      assert.equal(found.state, state, found.sentence);
      assert.match(found.sentence, sentence);
      if (state === 'problem') assert.deepEqual(found.publish, publish);
    });

  it('the doctor skips the DKIM check without a key and reports a key that cannot sign', async () => {
    assert.equal((await dkim([], null)).state, 'note');
    const missing = await dkim([], { ...ours.dkim, privateKeyFile: path.join(folder, 'no-such.pem') });
    assert.equal(missing.state, 'problem');
    assert.match(missing.sentence, /^DKIM_PRIVATE_KEY_FILE .* cannot be read \(ENOENT\)/);
  });
});

describe('DMARC checks', () => {
  const dmarc = (zone: Zone, of = domain, signs: string | null = of) =>
    finds(zone, (dns) => examineDmarc(dns, { domain: of, dkimDomain: signs }));
  const none = 'v=DMARC1; p=none; rua=mailto:dmarc@example.com';
  for (const [record, of, ...found] of [
    [
      'v=DMARC1; p=reject; sp=quarantine',
      domain,
      'ok',
      /^The DMARC policy of example\.com \(_dmarc\.example\.com\) is p=reject\.$/,
    ],
    [
      'v=DMARC1; p=reject; sp=quarantine',
      'guide.mail.example.com',
      'ok',
      /guide\.mail\.example\.com \(_dmarc\.example\.com\) is p=quarantine/,
    ],
    ['hello', domain, 'warning', /\S/, none],
    [
      'v=DMARC1; p=none; rua=mailto:x@example.com',
      domain,
      'warning',
      /\S/,
      'v=DMARC1; p=quarantine; rua=mailto:x@example.com',
    ],
    [
      'v=DMARC1; p=reject; sp=none',
      'guide.example.com',
      'warning',
      /\S/,
      'v=DMARC1; p=reject; sp=quarantine',
    ],
    ['v=DMARC1; p=strict', domain, 'problem', /\S/],
  ] as const)
    it(`the doctor reports "${found[0]}" for the DMARC record "${record}" of ${of}`, async () => {
      const [first] = await dmarc({ '_dmarc.example.com': { TXT: [record] } }, of);
      const [state, sentence, value] = found;
      assert.equal(first?.state, state);
      assert.match(first.sentence, sentence);
      if (value !== undefined)
        assert.deepEqual(first.publish, { name: '_dmarc.example.com', type: 'TXT', value });
    });

  it('the doctor finds the DMARC record of a registered domain such as example.co.uk', async () => {
    const zone = { '_dmarc.example.co.uk': { TXT: ['v=DMARC1;p=reject'] } };
    assert.equal((await dmarc(zone, 'a.example.co.uk'))[0]?.state, 'ok');
  });

  it('the doctor reports two DMARC records or a DNS failure', async () => {
    const [two] = await dmarc({ '_dmarc.example.com': { TXT: ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] } });
    assert.equal(two?.state, 'problem');
    const [failed] = await dmarc({ '_dmarc.example.com': { fault: 'SERVFAIL' } });
    assert.match(failed?.sentence ?? '', /^DNS did not reply to the query for _dmarc\.example\.com/);
  });

  it('the doctor checks whether our DKIM signature aligns with MAIL_FROM', async () => {
    const relaxed = { '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject'] } };
    const strict = { '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; adkim=s'] } };
    const states = async (zone: Zone, signs: string | null) =>
      (await dmarc(zone, domain, signs)).map(({ state }) => state);
    assert.deepEqual(await states(relaxed, 'mail.example.com'), ['ok']);
    assert.deepEqual(await states(strict, 'example.com'), ['ok']);
    assert.deepEqual(await states(strict, 'mail.example.com'), ['ok', 'problem']);
    assert.deepEqual(await states(relaxed, 'example.org'), ['ok', 'problem']);
    assert.deepEqual(await states({}, 'example.org'), ['warning', 'warning']);
    assert.deepEqual(await states(relaxed, null), ['ok', 'note']);
  });
});

describe('reverse DNS checks', () => {
  const reverse = async (zone: Zone, mailHost = 'mail.example.com') =>
    only(await finds(zone, (dns) => examineReverseDns(dns, { domain, mailHost })));
  const address = '93.184.215.14';
  const name = '14.215.184.93.in-addr.arpa';

  const ours = { 'mail.example.com': { A: [address] } };
  const otherName = { [name]: { PTR: ['host.test'] }, 'host.test': { A: ['93.184.215.15'] } };
  const wanted = /the IP address to name it mail\.example\.com\.$/;
  for (const [zone, state, sentence, mailHost] of [
    [{ ...ours, [name]: { PTR: ['mail.example.com'] } }, 'ok', /which resolves back to it\.$/],
    [ours, 'warning', wanted],
    [{ ...ours, ...otherName }, 'warning', wanted],
    [{ 'mail.example.com': { AAAA: ['2606:2800::1'] } }, 'warning', wanted],
    [{}, 'note', /belongs to another organisation/, 'smtp.relay.test'],
    [{ 'mail.example.com': { A: ['10.0.0.5'] } }, 'note', /is in your own network/],
    [{}, 'problem', /^DNS has no IP address for the mail server mail\.example\.com\./],
  ] as readonly (readonly [Zone, Finding['state'], RegExp, string?])[])
    it(`the doctor reports "${state}" for ${mailHost ?? 'our mail server'} with the names ${JSON.stringify(zone)}`, async () => {
      const found = await reverse(zone, mailHost);
      assert.equal(found.state, state, found.sentence);
      assert.match(found.sentence, sentence);
    });
});
