// What the doctor reads in DNS: MX, SPF, DKIM, DMARC, reverse DNS. Asked of a real DNS server on this machine.
import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';

import { createDns, type Dns } from '#server/platform/dns.ts';
import { examineDkim } from '#desk/doctor/dkim.ts';
import { examineDmarc } from '#desk/doctor/dmarc.ts';
import type { Finding } from '#desk/doctor/finding.ts';
import { examineMailExchange } from '#desk/doctor/mail-exchange.ts';
import { examineReverseDns } from '#desk/doctor/reverse-dns.ts';
import { examineSpf } from '#desk/doctor/spf.ts';
import { withDnsServer, type NameRecords } from '#testing/dns-server.ts';

type Zone = Readonly<Record<string, NameRecords>>;

/** What one examination finds where DNS has these names. */
async function finds(
  zone: Zone,
  examination: (dns: Dns) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  let findings: readonly Finding[] = [];
  await withDnsServer(zone, async ({ address }) => {
    findings = await examination(createDns([address], new AbortController().signal));
  });
  return findings;
}

/** The only finding, and its state. */
async function finds1(zone: Zone, examination: (dns: Dns) => Promise<readonly Finding[]>): Promise<Finding> {
  const findings = await finds(zone, examination);
  assert.equal(findings.length, 1, JSON.stringify(findings, null, 2));
  return findings[0]!;
}

const domain = 'example.com';

describe('MX', () => {
  const mx = (zone: Zone, mailHost: string | null = 'mail.example.com') =>
    finds1(zone, (dns) => examineMailExchange(dns, { domain, mailHost }));

  it('is well when the servers it names have addresses', async () => {
    const found = await mx({
      'example.com': {
        MX: [
          [20, 'two.example.com'],
          [10, 'one.example.com'],
        ],
      },
      'one.example.com': { A: ['192.0.2.1'] },
      'two.example.com': { AAAA: ['2001:db8::2'] },
    });
    assert.deepEqual(found, {
      check: 'MX',
      state: 'ok',
      sentence: 'Mail to example.com goes to one.example.com, two.example.com.',
    });
  });

  it('is a problem when nothing can come back, with the record that mends it', async () => {
    const publish = { name: 'example.com', type: 'MX', value: '10 mail.example.com' };
    const absent = await mx({ 'example.com': {} });
    assert.deepEqual([absent.state, absent.publish], ['problem', publish]);
    const unknown = await mx({});
    assert.match(unknown.sentence, /^DNS knows no example\.com/);
    assert.equal(unknown.state, 'problem');
    const refusing = await mx({ 'example.com': { MX: [[0, '.']] } });
    assert.deepEqual([refusing.state, refusing.publish], ['problem', publish]);
    const dead = await mx({ 'example.com': { MX: [[10, 'gone.example.com']] } });
    assert.match(dead.sentence, /names gone\.example\.com, which has no address/);
    assert.equal(dead.state, 'problem');
  });

  it('is warned of when mail goes to the domain itself, or to a server that is gone', async () => {
    const direct = await mx({ 'example.com': { A: ['192.0.2.1'] } }, 'smtp.relay.test');
    assert.deepEqual([direct.state, direct.publish?.value], ['warning', '10 mail.example.com']);
    const half = await mx({
      'example.com': {
        MX: [
          [10, 'one.example.com'],
          [20, 'gone.example.com'],
        ],
      },
      'one.example.com': { A: ['192.0.2.1'] },
    });
    assert.equal(half.state, 'warning');
    assert.match(half.sentence, /gone\.example\.com/);
  });

  it('is a problem when DNS does not answer', async () => {
    const failed = await mx({ 'example.com': { fault: 'SERVFAIL' } });
    assert.equal(failed.state, 'problem');
    assert.match(failed.sentence, /^DNS did not answer about example\.com \(ESERVFAIL\)/);
  });
});

describe('SPF', () => {
  const spf = (zone: Zone, mailHost: string | null = 'mail.example.com') =>
    finds(zone, (dns) => examineSpf(dns, { domain, mailHost }));
  const spf1 = async (zone: Zone, mailHost?: string | null) => {
    const findings = await spf(zone, mailHost);
    assert.equal(findings.length, 1, JSON.stringify(findings, null, 2));
    return findings[0]!;
  };

  it('is well when it is one record within ten look-ups, counted through what it includes', async () => {
    const found = await spf1({
      'example.com': { TXT: ['v=spf1 a:mail.example.com include:one.test -all', 'site-verification=v=spf1'] },
      'mail.example.com': { A: ['192.0.2.1'] },
      'one.test': {
        TXT: ['v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/32 mx redirect=two.test'],
        MX: [[1, 'x.test']],
      },
      'two.test': { TXT: ['V=SPF1 exists:%{i}.list.test a/24//64 ?all'], A: ['192.0.2.9'] },
    });
    assert.equal(found.state, 'ok', found.sentence);
    // a, include, mx, redirect, exists, a
    assert.match(found.sentence, /^example\.com has one SPF record, with 6 of 10 look-ups/);
  });

  it('is to be published where there is none: as the provider documents, or with the name of our own server', async () => {
    const values = async (mailHost: string | null) => {
      const { state, publish } = await spf1({ 'example.com': { TXT: ['hello'] } }, mailHost);
      assert.equal(state, 'problem');
      assert.deepEqual([publish?.name, publish?.type], ['example.com', 'TXT']);
      return publish?.value;
    };
    assert.equal(await values('mail.example.com'), 'v=spf1 a:mail.example.com ~all');
    assert.equal(await values('smtp.gmail.com'), 'v=spf1 include:_spf.google.com ~all');
    assert.equal(await values('smtp.relay.test'), 'v=spf1 include:relay.test ~all');
    assert.equal(await values('192.0.2.7'), 'v=spf1 ip4:192.0.2.7 ~all');
    assert.equal(await values('2001:db8::7'), 'v=spf1 ip6:2001:db8::7 ~all');
    assert.equal(await values(null), 'v=spf1 mx ~all');
  });

  it('is void when there are two records; one with the terms of both takes their place', async () => {
    const found = await spf1({
      'example.com': { TXT: ['v=spf1 include:one.test mx -all', 'v=spf1 ip4:192.0.2.1 mx ~all'] },
    });
    assert.equal(found.state, 'problem');
    assert.equal(found.publish?.value, 'v=spf1 include:one.test mx ip4:192.0.2.1 ~all');
  });

  it('is void when more than ten look-ups are needed, and the dearest term is named', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 9 }, (_, n) => [`n${n}.test`, { TXT: ['v=spf1 ip4:192.0.2.1 -all'] }]),
    );
    const zone: Zone = {
      ...many,
      'example.com': { TXT: ['v=spf1 mx include:big.test -all'], MX: [[1, 'mail.example.com']] },
      'big.test': {
        TXT: [
          `v=spf1 ${Object.keys(many)
            .map((name) => `include:${name}`)
            .join(' ')} -all`,
        ],
      },
    };
    const found = await spf1(zone);
    assert.equal(found.state, 'problem');
    assert.match(found.sentence, /needs 11 look-ups and may need 10.*include:big\.test 10, mx 1\./);
    assert.equal(found.publish?.value, 'v=spf1 mx -all');
    // Ten are allowed.
    assert.equal(
      (await spf1({ ...zone, 'example.com': { TXT: ['v=spf1 include:big.test -all'] } })).state,
      'ok',
    );
  });

  it('is void when something it leads to is missing, doubled, broken or leads back', async () => {
    const faulty = async (zone: Zone) => {
      const [first, ...others] = await spf({
        'example.com': { TXT: ['v=spf1 ip4:192.0.2.1 include:one.test -all'] },
        ...zone,
      });
      assert.deepEqual(
        [first?.state, first?.publish?.value],
        ['problem', 'v=spf1 ip4:192.0.2.1 -all'],
        first?.sentence,
      );
      assert.deepEqual(others, []);
      return first?.sentence ?? '';
    };
    assert.match(await faulty({ 'one.test': { TXT: ['hello'] } }), /includes one\.test, which has none/);
    assert.match(await faulty({}), /includes one\.test, which has none/);
    assert.match(
      await faulty({ 'one.test': { TXT: ['v=spf1 -all', 'v=spf1 ~all'] } }),
      /includes one\.test, which has several/,
    );
    assert.match(
      await faulty({ 'one.test': { TXT: ['v=spf1 ip4:192.0.2 -all'] } }),
      /broken at "ip4:192\.0\.2"/,
    );
    assert.match(
      await faulty({ 'one.test': { TXT: ['v=spf1 include:example.com -all'] } }),
      /leads back to example\.com/,
    );
  });

  it('is void when one of its own terms is invalid', async () => {
    for (const term of ['ip4:192.0.2.1/33', 'ipv4:192.0.2', 'include:', 'a:', 'all:x', 'redirect='])
      assert.deepEqual(
        await spf1({ 'example.com': { TXT: [`v=spf1 mx ${term} ~all`] } }).then(({ state, publish }) => [
          state,
          publish?.value,
        ]),
        ['problem', 'v=spf1 mx ~all'],
        term,
      );
  });

  it('to be copied keeps whom the present one means, and always names somebody', async () => {
    for (const [record, mended] of [
      ['v=spf1 ipv4:192.0.2.1 ~all', 'v=spf1 ip4:192.0.2.1 ~all'],
      ['v=spf1 192.0.2.0/24 ~all', 'v=spf1 ip4:192.0.2.0/24 ~all'],
      ['v=spf1 ip6:192.0.2.1 -all', 'v=spf1 ip4:192.0.2.1 -all'],
      ['v=spf1 ipv6:2001:db8::1 -all', 'v=spf1 ip6:2001:db8::1 -all'],
      ['v=spf1 all:x ~all', 'v=spf1 a:mail.example.com ~all'],
      ['v=spf1 include:gone.test ~all', 'v=spf1 a:mail.example.com ~all'],
      ['v=spf1 ptr ~all', 'v=spf1 a:mail.example.com ~all'],
      ['v=spf1 mx ptr ~all', 'v=spf1 mx ~all'],
    ] as const) {
      const found = await spf({ 'example.com': { TXT: [record] } }, 'mail.example.com');
      assert.equal(found.find(({ publish }) => publish !== undefined)?.publish?.value, mended, record);
    }
  });

  it('is a problem when a provider that we know to send in our name is left out', async () => {
    const zone: Zone = {
      'example.com': { TXT: ['v=spf1 ip4:192.0.2.1 ~all'] },
      '_spf.google.com': { TXT: ['v=spf1 ip4:198.51.100.0/24 ~all'] },
    };
    const left = await spf1(zone, 'smtp.gmail.com');
    assert.deepEqual(
      [left.state, left.publish?.value],
      ['problem', 'v=spf1 include:_spf.google.com ip4:192.0.2.1 ~all'],
    );
    const mended = { ...zone, 'example.com': { TXT: [left.publish?.value ?? ''] } };
    assert.equal((await spf1(mended, 'smtp.gmail.com')).state, 'ok');
    // It sends with its own envelope address.
    assert.equal((await spf1(zone, 'smtp.sendgrid.net')).state, 'ok');
  });

  it('is warned of when it lets everybody in, says nothing about others, or uses ptr', async () => {
    for (const [record, mended] of [
      ['v=spf1 ip4:192.0.2.1 +all', 'v=spf1 ip4:192.0.2.1 ~all'],
      ['v=spf1 ip4:192.0.2.1 all', 'v=spf1 ip4:192.0.2.1 ~all'],
      ['v=spf1 ip4:192.0.2.1 ?all', 'v=spf1 ip4:192.0.2.1 ~all'],
      ['v=spf1 ip4:192.0.2.1', 'v=spf1 ip4:192.0.2.1 ~all'],
      ['v=spf1 ip4:192.0.2.1 ptr -all', 'v=spf1 ip4:192.0.2.1 -all'],
    ] as const) {
      const found = await spf1({ 'example.com': { TXT: [record] } });
      assert.deepEqual([found.state, found.publish?.value], ['warning', mended], record);
    }
  });

  it('is warned of for a name that is not there, and void for three', async () => {
    const one = await spf1({ 'example.com': { TXT: ['v=spf1 a:gone.test -all'] } });
    assert.deepEqual(one.state, 'warning');
    assert.match(one.sentence, /asks for gone\.test, which is not there/);
    const three = await spf1({ 'example.com': { TXT: ['v=spf1 a:g1.test mx:g2.test a:g3.test -all'] } });
    assert.equal(three.state, 'problem');
    assert.match(three.sentence, /asks for 3 names that are not there/);
  });

  it('does not follow a chain without end', async () => {
    const zone: Record<string, NameRecords> = { 'example.com': { TXT: ['v=spf1 include:n0.test -all'] } };
    for (let n = 0; n < 200; n += 1) zone[`n${n}.test`] = { TXT: [`v=spf1 include:n${n + 1}.test -all`] };
    await withDnsServer(zone, async ({ address, questions }) => {
      const dns = createDns([address], new AbortController().signal);
      const [found] = await examineSpf(dns, { domain, mailHost: null });
      assert.equal(found?.state, 'problem');
      assert(questions.length < 60, `${questions.length} questions`);
    });
  });

  it('says so when DNS cannot say', async () => {
    const found = await spf1({
      'example.com': { TXT: ['v=spf1 include:one.test -all'] },
      'one.test': { fault: 'SERVFAIL' },
    });
    assert.equal(found.state, 'problem');
    assert.match(found.sentence, /^DNS did not answer about one\.test/);
  });
});

describe('DKIM', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'dkim-'));
  const makeKey = (name: string, bits: number) => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: bits });
    const file = path.join(folder, name);
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    return {
      dkim: { domainName: domain, keySelector: 'guide', privateKeyFile: file },
      spki: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
      pkcs1: publicKey.export({ type: 'pkcs1', format: 'der' }).toString('base64'),
    };
  };
  const ours = makeKey('ours.pem', 2048);
  const other = makeKey('other.pem', 2048);
  const name = 'guide._domainkey.example.com';
  const dkim = (TXT: readonly string[], key = ours) =>
    finds1({ [name]: { TXT } }, (dns) => examineDkim(dns, key.dkim));
  process.once('exit', () => rmSync(folder, { recursive: true }));

  it('is well when the published key is ours, in either way to write it', async () => {
    for (const record of [
      `v=DKIM1; k=rsa; p=${ours.spki}`,
      `v=DKIM1; h=sha1:sha256; s=email; p=${ours.pkcs1}`,
      `p=${ours.spki.slice(0, 100)} ${ours.spki.slice(100)}`,
    ]) {
      const found = await dkim([record]);
      assert.equal(found.state, 'ok', found.sentence);
    }
  });

  it('is a problem when mail servers could not check what we sign; the record to publish holds our key', async () => {
    const publish = { name, type: 'TXT', value: `v=DKIM1; k=rsa; p=${ours.spki}` };
    // What we say to publish is the public half of our key.
    assert.equal(
      createPublicKey({ key: Buffer.from(ours.spki, 'base64'), format: 'der', type: 'spki' })
        .asymmetricKeyType,
      'rsa',
    );
    for (const [records, sentence] of [
      [[], /^No DKIM key is published at guide\._domainkey\.example\.com/],
      [[`v=DKIM1; p=${other.spki}`], /holds another key than DKIM_PRIVATE_KEY_FILE/],
      [['v=DKIM1; p='], /was withdrawn/],
      [['v=DKIM1; k=rsa'], /holds no key/],
      [[`v=DKIM1; k=ed25519; p=${ours.spki}`], /another kind of key/],
      [[`v=DKIM1; h=sha1; p=${ours.spki}`], /does not allow SHA-256/],
      [[`v=DKIM1; s=tlsrpt; p=${ours.spki}`], /not for e-mail/],
      [['v=DKIM1; p=AAAA'], /cannot be read/],
      [[`v=DKIM2; p=${ours.spki}`], /does not begin with v=DKIM1/],
      [[`v=DKIM1; p=${ours.spki}`, `v=DKIM1; p=${other.spki}`], /There are 2 records/],
    ] as const) {
      const found = await dkim(records);
      assert.equal(found.state, 'problem');
      assert.match(found.sentence, sentence);
      assert.deepEqual(found.publish, publish);
    }
  });

  it('is warned of when it is for testing, or the key is short', async () => {
    assert.equal((await dkim([`v=DKIM1; t=y:s; p=${ours.spki}`])).state, 'warning');
    const short = makeKey('short.pem', 1024);
    const found = await dkim([`v=DKIM1; p=${short.spki}`], short);
    assert.equal(found.state, 'warning');
    assert.match(found.sentence, /has 1024 bits/);
  });

  it('is not looked at where we do not sign, and a key that cannot sign is a problem', async () => {
    const none = await finds1({}, (dns) => examineDkim(dns, null));
    assert.equal(none.state, 'note');
    const missing = await finds1({}, (dns) =>
      examineDkim(dns, { ...ours.dkim, privateKeyFile: path.join(folder, 'no-such.pem') }),
    );
    assert.equal(missing.state, 'problem');
    assert.match(missing.sentence, /^DKIM_PRIVATE_KEY_FILE .* cannot be read \(ENOENT\)/);
  });
});

describe('DMARC', () => {
  const dmarc = (zone: Zone, of = domain, signs: string | null = of) =>
    finds(zone, (dns) => examineDmarc(dns, { domain: of, signs }));

  it('is well when it asks for something, at the domain or the one that was registered', async () => {
    const zone = { '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; sp=quarantine'] } };
    assert.deepEqual(await dmarc(zone), [
      { check: 'DMARC', state: 'ok', sentence: 'DMARC of example.com (_dmarc.example.com) asks for reject.' },
    ]);
    const [below] = await dmarc(zone, 'guide.mail.example.com');
    assert.match(
      below?.sentence ?? '',
      /guide\.mail\.example\.com \(_dmarc\.example\.com\) asks for quarantine/,
    );
    const [registered] = await dmarc(
      { '_dmarc.example.co.uk': { TXT: ['v=DMARC1;p=reject'] } },
      'a.example.co.uk',
    );
    assert.equal(registered?.state, 'ok');
  });

  it('is warned of when there is none, and when it asks for nothing', async () => {
    const [none] = await dmarc({ '_dmarc.example.com': { TXT: ['hello'] } });
    assert.deepEqual(
      [none?.state, none?.publish],
      [
        'warning',
        { name: '_dmarc.example.com', type: 'TXT', value: 'v=DMARC1; p=none; rua=mailto:dmarc@example.com' },
      ],
    );
    const [idle] = await dmarc({
      '_dmarc.example.com': { TXT: ['v=DMARC1; p=none; rua=mailto:x@example.com'] },
    });
    assert.deepEqual(
      [idle?.state, idle?.publish?.value],
      ['warning', 'v=DMARC1; p=quarantine; rua=mailto:x@example.com'],
    );
    const [inherited] = await dmarc(
      { '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; sp=none'] } },
      'guide.example.com',
    );
    assert.deepEqual(
      [inherited?.state, inherited?.publish?.name, inherited?.publish?.value],
      ['warning', '_dmarc.example.com', 'v=DMARC1; p=reject; sp=quarantine'],
    );
  });

  it('is a problem when mail servers would ignore it', async () => {
    const [two] = await dmarc({ '_dmarc.example.com': { TXT: ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] } });
    assert.equal(two?.state, 'problem');
    const [wrong] = await dmarc({ '_dmarc.example.com': { TXT: ['v=DMARC1; p=strict'] } });
    assert.equal(wrong?.state, 'problem');
    const [failed] = await dmarc({ '_dmarc.example.com': { fault: 'SERVFAIL' } });
    assert.match(failed?.sentence ?? '', /^DNS did not answer about _dmarc\.example\.com/);
  });

  it('looks whether our signature counts for MAIL_FROM: the same organisation, or the same domain where it says so', async () => {
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

describe('reverse DNS', () => {
  const reverse = (zone: Zone, mailHost = 'mail.example.com') =>
    finds1(zone, (dns) => examineReverseDns(dns, { domain, mailHost }));
  const address = '93.184.215.14';
  const name = '14.215.184.93.in-addr.arpa';

  it('is well when the name leads back to the address', async () => {
    const found = await reverse({
      'mail.example.com': { A: [address] },
      [name]: { PTR: ['mail.example.com'] },
    });
    assert.equal(found.state, 'ok', found.sentence);
  });

  it('is warned of when there is none, or it leads elsewhere', async () => {
    const publish = { name, type: 'PTR', value: 'mail.example.com' };
    for (const zone of [{}, { [name]: { PTR: ['host.test'] }, 'host.test': { A: ['93.184.215.15'] } }]) {
      const found = await reverse({ 'mail.example.com': { A: [address] }, ...zone });
      assert.deepEqual([found.state, found.publish], ['warning', publish]);
    }
    const six = await reverse({ 'mail.example.com': { AAAA: ['2606:2800::1'] } });
    assert.equal(
      six.publish?.name,
      '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.2.6.0.6.2.ip6.arpa',
    );
  });

  it('is not looked at for a server of another organisation or of a private network', async () => {
    assert.equal((await reverse({}, 'smtp.relay.test')).state, 'note');
    assert.equal((await reverse({ 'mail.example.com': { A: ['10.0.0.5'] } })).state, 'note');
    assert.equal((await reverse({})).state, 'problem');
  });
});

describe('DNS', () => {
  it('that does not answer is given up', async () => {
    await withDnsServer({ 'example.com': { fault: 'silence' } }, async ({ address }) => {
      const signal = AbortSignal.timeout(300);
      const dns = createDns([address], signal);
      const answer = await dns.texts('example.com');
      assert.deepEqual(answer, { type: 'failed', reason: 'ECANCELLED' });
    });
  });

  it('gives long texts whole', async () => {
    const text = 'x'.repeat(600);
    await withDnsServer({ 'example.com': { TXT: [text] } }, async ({ address }) => {
      const dns = createDns([address], new AbortController().signal);
      assert.deepEqual(await dns.texts('example.com'), { type: 'records', records: [text] });
    });
  });
});
