import assert from 'node:assert/strict';
import { it } from 'node:test';

import { solveChallenge, type Challenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { v7 as uuid } from 'uuid';

import { createBreaker } from '#server/limits/breaker.ts';
import { countByDomain } from '#server/limits/recipients.ts';
import { DAY_MS } from '#server/platform/time.ts';
import { API, PROOF_OF_WORK_HEADER } from '#shared/api.ts';
import { createVisitor, withServer, type ServerUnderTest, type Visitor } from '#testing/server-under-test.ts';
import { ask, askFrom, enter, newestCode, refusalOf } from '#testing/lead-calls.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';

const opensAt = (codesPerMinute: number) => ({ env: { BREAKER_CODES_PER_MINUTE: String(codesPerMinute) } });

/** Longer than a process uses its cached state. */
const LOOK_SECONDS = 3;

let strangers = 0;
function askAsStranger(server: ServerUnderTest, proof?: string) {
  strangers += 1;
  return askAs(
    createVisitor(server, `198.51.100.${strangers % 250}`),
    `stranger-${strangers}@example.com`,
    proof,
  );
}

const askAs = (visitor: Visitor, email: string, proof?: string) =>
  ask(visitor, { email }, proof === undefined ? {} : { [PROOF_OF_WORK_HEADER]: proof });

const breakerOf = ({ database: { db }, config, now }: ServerUnderTest, onOpened: (reason: string) => void) =>
  createBreaker({ db, config, clock: now, onOpened });

const encode = (payload: object): string => Buffer.from(JSON.stringify(payload)).toString('base64');

async function solve(server: ServerUnderTest) {
  const response = await createVisitor(server).get(API.proofOfWork);
  assert.equal(response.statusCode, 200);
  assert.equal(response.headers['cache-control'], 'no-store');
  const challenge = response.json<Challenge>();
  const solution = await solveChallenge({ challenge, deriveKey });
  assert.ok(solution);
  return { challenge, solution, proof: encode({ challenge, solution }) };
}

type PastCode = { readonly email: string; readonly network: string; readonly entered: boolean };

async function insertPast(server: ServerUnderTest, at: number, past: readonly PastCode[]) {
  const { db } = server.database;
  const codes = past.map(({ email, network, entered }) => ({
    id: uuid({ msecs: at }),
    submission_id: null,
    email,
    client_address: network,
    secret_id: 'none',
    created_at: at,
    expires_at: at,
    used_at: entered ? at : null,
  }));
  for (let from = 0; from < codes.length; from += 500)
    await db
      .insertInto('codes')
      .values(codes.slice(from, from + 500))
      .execute();
}

const address = (n: number): string => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
const list = <T>(length: number, make: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => make(index));

let people = 0;
const visitors = ({ count, entered }: { count: number; entered: number }): PastCode[] =>
  list(count, (index) => {
    people += 1;
    const domain = people % 3 === 0 ? `company-${people}.com` : 'gmail.com';
    const enters = Math.floor(((index + 1) * entered) / count) > Math.floor((index * entered) / count);
    return { email: `visitor-${people}@${domain}`, network: address(people), entered: enters };
  });

const bomb = (count: number, networks: number, domain: (index: number) => string): PastCode[] =>
  list(count, (index) => ({
    email: `bombed-${index}@${domain(index)}`,
    network: address(0xf0_0000 + (index % networks)),
    entered: false,
  }));
const everywhere = (index: number): string => `victim-${index}.com`;

const decidedAt = (server: ServerUnderTest): number =>
  server.now() - server.config.codeTtlSeconds * 1000 - 60_000;

type Past = readonly [at: number, codes: readonly PastCode[]];

function attack(domain: (index: number) => string): PastCode[] {
  const own = list(719, (index) => ({
    email: `${index}@attacker-${index % 5}.attacker.co.uk`,
    network: address(0xf0_0000 + (index % 24)),
    entered: true,
  }));
  const all = [...bomb(1_600, 24, domain), ...own];
  return list(all.length, (index) => all[(index * 1_009) % all.length]!);
}

const dayAtProvider = (scale: number): PastCode[] => [
  ...visitors({ count: 300 * scale, entered: 200 * scale }),
  ...visitors({ count: 150 * scale, entered: 25 * scale }).map((code) => ({
    ...code,
    email: code.email.replace(/@.*/, '@outlook.com'),
  })),
];

type Opening = readonly [by: string, past: (decided: number) => readonly Past[]];
const OPENED: readonly Opening[] = [
  [
    'far fewer codes entered than usual',
    (decided) => [
      [decided - DAY_MS, visitors({ count: 300, entered: 240 })],
      [decided, visitors({ count: 150, entered: 30 })],
    ],
  ],
  ...(
    [
      ['as many domains', everywhere],
      ['one domain', () => 'victim.com'],
      ['a free-mail provider', () => 'gmail.com'],
    ] as const
  ).map(([where, domain]): Opening => [
    `an attack on 1,600 strangers at ${where}, with 31 of 100 codes entered`,
    (decided) => [[decided, attack(domain)]],
  ]),
  [
    'one mailbox that enters codes under many names',
    (decided) => {
      const own = list(300, (index) => ({
        email: `${index % 2 ? 'eve' : 'e.v.e'}+${index}@gmail.com`,
        network: address(index),
        entered: true,
      }));
      return [[decided, [...bomb(150, 150, () => 'gmail.com'), ...own]]];
    },
  ],
  [
    'one mailbox flooded under many names',
    (decided) => {
      const buried = bomb(150, 150, () => 'gmail.com');
      return [[decided, buried.map((code, index) => ({ ...code, email: `victim+${index}@gmail.com` }))]];
    },
  ],
];
const NOT_OPENED: readonly Opening[] = [
  [
    'few codes entered every day',
    (decided) => [
      [decided - DAY_MS, visitors({ count: 300, entered: 75 })],
      [decided, visitors({ count: 150, entered: 30 })],
    ],
  ],
  [
    'an office with one IP address or a provider with a few',
    (decided) => {
      const office = visitors({ count: 100, entered: 20 });
      const phones = visitors({ count: 600, entered: 300 });
      const codes = [
        ...office.map((code, index) => ({ ...code, email: `${index}@office.com`, network: '192.0.2.8' })),
        ...phones.map((code, index) => ({ ...code, network: `192.0.2.${100 + (index % 15)}` })),
      ];
      return [[decided, codes]];
    },
  ],
  [
    'one of several providers that hides most codes every day',
    (decided) => [
      [decided - DAY_MS, dayAtProvider(2)],
      [decided, dayAtProvider(1)],
    ],
  ],
];

onEachEngine('list-bomb breaker', ({ test, both }) => {
  for (const [verb, cases, status, reasons] of [
    ['opens', OPENED, 428, ['too few codes entered']],
    ['does not open', NOT_OPENED, 202, []],
  ] as const)
    for (const [by, past] of cases)
      test(`the breaker ${verb} because of ${by}`, async (server) => {
        for (const [at, codes] of past(decidedAt(server))) await insertPast(server, at, codes);
        assert.equal((await askAsStranger(server)).statusCode, status);
        assert.deepEqual(server.breakerReasons, reasons);
      });

  both('the breaker opens when too many codes are mailed in a minute', opensAt(3), async (server) => {
    const waiting = createVisitor(server, '203.0.113.9');
    assert.equal((await askAs(waiting, 'waiting@example.com')).statusCode, 202);
    for (let count = 0; count < 2; count += 1) assert.equal((await askAsStranger(server)).statusCode, 202);
    await server.advance(LOOK_SECONDS);

    const refused = await askAsStranger(server);
    assert.deepEqual(refusalOf(refused), [428, 'proof-of-work-required']);
    assert.match(refused.body, /^We are being asked for very many codes\./);
    assert.deepEqual(server.breakerReasons, ['too many codes a minute']);
    assert.equal(await server.countRows('submissions'), 3, 'nothing of it is stored');

    await server.advance(60);
    assert.equal((await askAs(waiting, 'waiting@example.com')).statusCode, 202);
    const code = await newestCode(server, 2, 'waiting@example.com');
    assert.equal((await enter(waiting, code, 'waiting@example.com')).statusCode, 200);

    const { proof } = await solve(server);
    assert.equal((await askAsStranger(server, proof)).statusCode, 202);
    assert.equal((await askAsStranger(server, proof)).statusCode, 428, 'a proof is used once');

    await server.advance(11 * 60);
    assert.equal((await askAsStranger(server)).statusCode, 202);
    assert.equal(server.breakerReasons.length, 1);
  });

  test('the breaker opens on a page without history and on one whose history was an attack', async (server) => {
    await insertPast(server, decidedAt(server), visitors({ count: 150, entered: 30 }));
    assert.equal((await askAsStranger(server)).statusCode, 428);
    // Eight days without an entered code must not count as the usual share.
    await server.advance(24 * 3_600);
    for (let day = 1; day <= 8; day += 1) {
      await insertPast(server, decidedAt(server) - day * DAY_MS, visitors({ count: 100, entered: 0 }));
    }
    await insertPast(server, decidedAt(server), visitors({ count: 150, entered: 2 }));
    assert.equal((await askAsStranger(server)).statusCode, 428);
    assert.equal(server.breakerReasons.length, 2);
  });

  test(
    'a limit of 100 % of codes that nobody enters never opens the breaker',
    { env: { BREAKER_UNENTERED_PERCENT: '100' } },
    async (server) => {
      await insertPast(server, decidedAt(server), visitors({ count: 150, entered: 0 }));
      assert.equal((await askAsStranger(server)).statusCode, 202);
    },
  );

  test('the breaker asks only networks without entered codes for a proof of work', async (server) => {
    const decided = decidedAt(server);
    await insertPast(server, decided, bomb(100, 1, everywhere));
    assert.equal((await askAsStranger(server)).statusCode, 202);
    await insertPast(server, decided + 1, bomb(1_000, 10, everywhere));
    await server.advance(LOOK_SECONDS);
    assert.equal((await askAsStranger(server)).statusCode, 202);
    assert.deepEqual(server.breakerReasons, []);

    assert.equal((await askFrom(server, address(0xf0_0000), 'next@example.org')).statusCode, 428);
  });

  test('the breaker counts the 65,536 networks of an IPv6 /48 as one', async (server) => {
    const line = bomb(500, 1, everywhere).map((code, index) => ({
      ...code,
      network: `2001:db8:7:${index.toString(16)}::1`,
    }));
    await insertPast(server, decidedAt(server), line);
    assert.equal((await askAsStranger(server)).statusCode, 202);
    const [guilty, neighbour] = ['2001:db8:7:ffff::2', '2001:db8:8::2'];
    assert.equal((await askFrom(server, guilty, 'next@example.org')).statusCode, 428);
    assert.equal((await askFrom(server, neighbour, 'next@example.org')).statusCode, 202);
  });

  test('the breaker asks only the network with twenty strangers for a proof of work', async (server) => {
    const own = list(70, (index) => ({
      email: `${index}@attacker.com`,
      network: '192.0.2.7',
      entered: true,
    }));
    await insertPast(server, server.now() - 60_000, own);
    const attacker = () => createVisitor(server, '192.0.2.7');
    for (let count = 0; count < 20; count += 1)
      assert.equal((await askAs(attacker(), `stranger@victim-${count}.com`)).statusCode, 202);
    // Refused immediately, because codes sent since the last check of the database count too.
    const refused = await askAs(attacker(), 'stranger@victim-20.com');
    assert.deepEqual(refusalOf(refused), [428, 'proof-of-work-required']);
    await server.advance(LOOK_SECONDS);
    assert.equal((await askAs(attacker(), 'stranger@victim-21.com')).statusCode, 428);
    assert.equal((await askAsStranger(server)).statusCode, 202);
    const { proof } = await solve(server);
    assert.equal((await askAs(attacker(), 'stranger@victim-22.com', proof)).statusCode, 202);
    await server.advance(3_600);
    assert.equal((await askAs(attacker(), 'stranger@victim-23.com')).statusCode, 202);
    assert.deepEqual(server.breakerReasons, []);
  });

  test('the breaker opens before codes expire when hardly any are entered', async (server) => {
    await insertPast(server, server.now() - 2 * 60_000, bomb(500, 500, everywhere));
    assert.equal((await askAsStranger(server)).statusCode, 202, 'they may still be entered');
    await server.advance(2 * 60);
    assert.equal((await askAsStranger(server)).statusCode, 428);
  });

  test('the breaker stays closed in a busy minute of a few networks', opensAt(200), async (server) => {
    await insertPast(server, server.now() - 1_000, bomb(300, 3, everywhere));
    assert.equal((await askAsStranger(server)).statusCode, 202);
    await insertPast(server, server.now() - 1_000, visitors({ count: 300, entered: 100 }));
    await server.advance(LOOK_SECONDS);
    assert.equal((await askAsStranger(server)).statusCode, 428);
    assert.deepEqual(server.breakerReasons, ['too many codes a minute']);
  });

  test(
    'the breaker ignores networks when their limit is 0',
    { env: { LEADS_PER_IP_PER_HOUR: '0' } },
    async (server) => {
      await insertPast(server, decidedAt(server), bomb(90, 1, everywhere));
      assert.equal((await askFrom(server, address(0xf0_0000), 'a@b.com')).statusCode, 202);
      await insertPast(server, decidedAt(server) + 1, bomb(150, 1, everywhere));
      await server.advance(LOOK_SECONDS);
      assert.equal((await askAsStranger(server)).statusCode, 428);
    },
  );

  test(
    'the breaker stays closed when its limits are 0',
    { env: { BREAKER_CODES_PER_MINUTE: '0', BREAKER_UNENTERED_PERCENT: '0' } },
    async (server) => {
      const decided = decidedAt(server);
      await insertPast(server, decided - DAY_MS, visitors({ count: 300, entered: 300 }));
      await insertPast(server, decided, visitors({ count: 150, entered: 0 }));
      for (let count = 0; count < 25; count += 1) {
        const response = await askFrom(server, '192.0.2.9', `visitor-${count}@example.org`);
        assert.equal(response.statusCode, 202);
      }
    },
  );

  both('the breaker is shared by all processes and tells the operator once', opensAt(1), async (server) => {
    assert.equal((await askAsStranger(server)).statusCode, 202);
    const opened: string[] = [];
    const onOpened = (reason: string) => opened.push(reason);
    const processes = Array.from({ length: 4 }, () => breakerOf(server, onOpened));
    // The second request of each process arrives during its first check.
    const states = await Promise.all(
      [...processes, ...processes].map((breaker) => breaker.admitWithoutProof('192.0.2.1')),
    );
    assert.deepEqual(new Set(states), new Set([false]));
    assert.equal(opened.length, 1);
  });

  test('the breaker checks again after a check that failed', opensAt(1), async (server) => {
    assert.equal((await askAsStranger(server)).statusCode, 202);
    const breaker = breakerOf(server, () => {
      throw new Error('A part of the check failed.');
    });
    await assert.rejects(breaker.admitWithoutProof('192.0.2.1'), /A part of the check failed/);
    assert.equal(await breaker.admitWithoutProof('192.0.2.1'), false);
  });
});

it('a few entered codes do not hide the many unconfirmed recipients of the same network', () => {
  const codes = Array.from({ length: 105 }, (_, index) => ({
    email: `recipient-${index}@example.com`,
    client_address: '192.0.2.1',
    used_at: index < 5 ? 1 : null,
  }));
  const [counts] = countByDomain(codes, (code) => code.client_address).values();
  assert.equal(counts?.unconfirmed.toFixed(2), '5.00');
  assert.equal(counts?.confirmed.toFixed(2), '0.25');
});

it('a proof of work is refused if forged, altered, late or malformed', () =>
  withServer({ engine: 'sqlite', env: { BREAKER_CODES_PER_MINUTE: '1' } }, async (server) => {
    assert.equal((await askAsStranger(server)).statusCode, 202);
    await server.advance(LOOK_SECONDS);
    const { challenge, solution, proof: right } = await solve(server);
    const { parameters } = challenge;
    const withParameters = (changes: object) =>
      encode({ challenge: { ...challenge, parameters: { ...parameters, ...changes } }, solution });
    const bad: Record<string, string> = {
      nothing: '',
      'no base64': '%%%',
      'no JSON': Buffer.from('{').toString('base64'),
      null: encode({ challenge: null, solution: null }),
      'text for a challenge': encode({ challenge: 'x', solution }),
      'another solution': encode({ challenge, solution: { ...solution, derivedKey: '00'.repeat(32) } }),
      'a solution of a wrong type': encode({ challenge, solution: { counter: {}, derivedKey: [] } }),
      'a longer life': withParameters({ data: { validUntil: server.now() * 2 } }),
      'another nonce': withParameters({ nonce: '00'.repeat(16) }),
      'no signature': encode({ challenge: { parameters }, solution }),
      'a time of another type': withParameters({ data: { validUntil: { toString: 1, valueOf: 1 } } }),
      'another algorithm': withParameters({ algorithm: 'SCRYPT' }),
      'a cost beyond measure': withParameters({ cost: 1e9 }),
      'more than we gave': withParameters({ memoryCost: 1e9 }),
      'a fractional counter': encode({ challenge, solution: { ...solution, counter: 0.5 } }),
      'keys of prototypes': Buffer.from(
        JSON.stringify({ challenge, solution }).replace('{', '{"__proto__":{"verified":true},'),
      ).toString('base64'),
      'far too much': encode({ challenge, solution, padding: 'x'.repeat(8_000) }),
    };
    for (const [what, proof] of Object.entries(bad)) {
      assert.equal((await askAsStranger(server, proof)).statusCode, 428, what);
    }
    await server.advance(5 * 60 + 1);
    assert.equal((await askAsStranger(server, right)).statusCode, 428, 'late');

    await server.advance(-3_600);
    assert.equal((await askAsStranger(server)).statusCode, 202, 'the breaker has shut');
    await server.advance(LOOK_SECONDS);
    assert.equal((await askAsStranger(server)).statusCode, 428);
    const early = await askAsStranger(server, right);
    assert.equal(early.statusCode, 428, 'made by a clock that was wrong');
  }));
