// The list-bomb breaker and the proof of work, through the whole server.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { solveChallenge, type Challenge, type Solution } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { v7 as uuid } from 'uuid';

import { createBreaker } from '#server/limits/breaker.ts';
import { API, PROOF_OF_WORK_HEADER } from '#shared/api.ts';
import { ENGINES } from '#testing/databases.ts';
import { codeIn } from '#testing/inbox.ts';
import {
  createVisitor,
  filledForm,
  withServer,
  type ServerUnderTest,
  type Visitor,
} from '#testing/server-under-test.ts';

/** Longer than a process trusts its last look. */
const LOOK_SECONDS = 3;

let strangers = 0;
/** Somebody new, at a new address, who asks for a code with or without a proof. */
function askAsStranger(server: ServerUnderTest, proof?: string) {
  strangers += 1;
  return askAs(
    createVisitor(server, `198.51.100.${strangers % 250}`),
    `stranger-${strangers}@example.com`,
    proof,
  );
}

const askAs = (visitor: Visitor, email: string, proof?: string) =>
  visitor.post(API.leads, filledForm({ email }), {
    ...(proof !== undefined && { headers: { [PROOF_OF_WORK_HEADER]: proof } }),
  });

const encode = (payload: object): string => Buffer.from(JSON.stringify(payload)).toString('base64');

async function solve(server: ServerUnderTest): Promise<{ challenge: Challenge; solution: Solution }> {
  const response = await createVisitor(server).get(API.proofOfWork);
  assert.equal(response.statusCode, 200);
  assert.equal(response.headers['cache-control'], 'no-store');
  const challenge = response.json<Challenge>();
  const solution = await solveChallenge({ challenge, deriveKey });
  assert.ok(solution);
  return { challenge, solution };
}

/** Writes codes that were made at a time, a share of which was entered. */
async function insertPast(
  server: ServerUnderTest,
  { count, entered, at }: { count: number; entered: number; at: number },
) {
  const { db } = server.database;
  const challengeId = uuid();
  const row = { browser_id: 'past', email: 'past@example.com', created_at: at, expires_at: at };
  await db
    .insertInto('challenges')
    .values({ id: challengeId, ...row })
    .execute();
  const codes = Array.from({ length: count }, (_, index) => ({
    id: uuid({ msecs: at }),
    challenge_id: challengeId,
    email: 'past@example.com',
    client_address: '192.0.2.1',
    secret_id: 'none',
    created_at: at,
    expires_at: at,
    used_at: index < entered ? at : null,
  }));
  await db.insertInto('codes').values(codes).execute();
}

for (const engine of ENGINES) {
  describe(`the list-bomb breaker on ${engine}`, () => {
    it('opens when too many codes go out in a minute, and asks strangers for a proof of work', () =>
      withServer({ engine, env: { BREAKER_CODES_PER_MINUTE: '3' } }, async (server) => {
        const waiting = createVisitor(server, '203.0.113.9');
        assert.equal((await askAs(waiting, 'waiting@example.com')).statusCode, 202);
        for (let count = 0; count < 2; count += 1)
          assert.equal((await askAsStranger(server)).statusCode, 202);
        await server.advance(LOOK_SECONDS);

        const refused = await askAsStranger(server);
        assert.equal(refused.statusCode, 428);
        assert.equal(refused.headers['x-error-code'], 'proof-of-work-required');
        assert.match(refused.body, /^We are being asked for very many codes\./);
        assert.deepEqual(server.breakerReasons, ['too many codes a minute']);
        assert.equal(await server.countRows('submissions'), 3, 'nothing of it is stored');

        // Who had a code already may have another, and may enter the one there is.
        await server.advance(60);
        assert.equal((await askAs(waiting, 'waiting@example.com')).statusCode, 202);
        const code = codeIn(await server.inbox.waitForMail('waiting@example.com', 2));
        const verified = await waiting.post(API.verify, { email: 'waiting@example.com', code });
        assert.equal(verified.statusCode, 200);

        const { challenge, solution } = await solve(server);
        const proof = encode({ challenge, solution });
        assert.equal((await askAsStranger(server, proof)).statusCode, 202);
        assert.equal((await askAsStranger(server, proof)).statusCode, 428, 'a proof is used once');

        // The storm is over: the breaker closes by itself.
        await server.advance(11 * 60);
        assert.equal((await askAsStranger(server)).statusCode, 202);
        assert.equal(server.breakerReasons.length, 1);
      }));

    it('takes no forged, altered, late or nonsensical proof', () =>
      withServer({ engine, env: { BREAKER_CODES_PER_MINUTE: '1' } }, async (server) => {
        assert.equal((await askAsStranger(server)).statusCode, 202);
        await server.advance(LOOK_SECONDS);
        const { challenge, solution } = await solve(server);
        const { parameters } = challenge;
        const bad: Record<string, string> = {
          nothing: '',
          'no base64': '%%%',
          'no JSON': Buffer.from('{').toString('base64'),
          null: encode({ challenge: null, solution: null }),
          'an array': encode([]),
          'text for a challenge': encode({ challenge: 'x', solution }),
          'numbers for parameters': encode({ challenge: { parameters: 1 }, solution }),
          'no solution': encode({ challenge }),
          'another solution': encode({ challenge, solution: { ...solution, derivedKey: '00'.repeat(32) } }),
          'a solution of a wrong type': encode({ challenge, solution: { counter: {}, derivedKey: [] } }),
          'a longer life': encode({
            challenge: {
              ...challenge,
              parameters: { ...parameters, data: { validUntil: server.now() * 2 } },
            },
            solution,
          }),
          'another nonce': encode({
            challenge: { ...challenge, parameters: { ...parameters, nonce: '00'.repeat(16) } },
            solution,
          }),
          'no signature': encode({ challenge: { parameters }, solution }),
          'far too much': encode({ challenge, solution, padding: 'x'.repeat(8_000) }),
        };
        for (const [what, proof] of Object.entries(bad)) {
          assert.equal((await askAsStranger(server, proof)).statusCode, 428, what);
        }
        await server.advance(5 * 60 + 1);
        const late = await askAsStranger(server, encode({ challenge, solution }));
        assert.equal(late.statusCode, 428, 'late');

        await server.advance(-3_600);
        assert.equal((await askAsStranger(server)).statusCode, 202, 'the breaker has shut');
        await server.advance(LOOK_SECONDS);
        assert.equal((await askAsStranger(server)).statusCode, 428);
        const early = await askAsStranger(server, encode({ challenge, solution }));
        assert.equal(early.statusCode, 428, 'made by a clock that was wrong');
      }));

    it('opens when far fewer codes than usual are entered, and not when it was always so', () =>
      withServer({ engine }, async (server) => {
        const decided = server.now() - server.config.codeTtlSeconds * 1000;
        const yesterday = decided - 24 * 3_600_000;
        await insertPast(server, { count: 300, entered: 240, at: yesterday });
        await insertPast(server, { count: 120, entered: 24, at: decided - 60_000 });
        assert.equal((await askAsStranger(server)).statusCode, 428);
        assert.deepEqual(server.breakerReasons, ['too few codes entered']);
      }));

    it('opens at a page without a past, and at one whose past was a storm', () =>
      withServer({ engine }, async (server) => {
        const decided = server.now() - server.config.codeTtlSeconds * 1000;
        await insertPast(server, { count: 120, entered: 10, at: decided - 60_000 });
        assert.equal((await askAsStranger(server)).statusCode, 428);
        // Eight days on which nobody entered anything are no excuse for a ninth.
        await server.advance(24 * 3_600);
        const later = server.now() - server.config.codeTtlSeconds * 1000;
        for (let day = 1; day <= 8; day += 1) {
          await insertPast(server, { count: 100, entered: 0, at: later - day * 24 * 3_600_000 });
        }
        await insertPast(server, { count: 120, entered: 2, at: later - 60_000 });
        assert.equal((await askAsStranger(server)).statusCode, 428);
        assert.equal(server.breakerReasons.length, 2);
      }));

    it('stays shut at a page where few codes are entered on every day', () =>
      withServer({ engine }, async (server) => {
        const decided = server.now() - server.config.codeTtlSeconds * 1000;
        await insertPast(server, { count: 300, entered: 75, at: decided - 24 * 3_600_000 });
        await insertPast(server, { count: 120, entered: 24, at: decided - 60_000 });
        assert.equal((await askAsStranger(server)).statusCode, 202);
      }));

    it('stays shut when its ceilings are 0', () =>
      withServer(
        { engine, env: { BREAKER_CODES_PER_MINUTE: '0', BREAKER_UNENTERED_PERCENT: '0' } },
        async (server) => {
          const decided = server.now() - server.config.codeTtlSeconds * 1000;
          await insertPast(server, { count: 300, entered: 300, at: decided - 24 * 3_600_000 });
          await insertPast(server, { count: 120, entered: 0, at: decided - 60_000 });
          for (let count = 0; count < 5; count += 1) {
            assert.equal((await askAsStranger(server)).statusCode, 202);
          }
        },
      ));

    it('that a wrong clock opened is shut when the clock is set back', () =>
      withServer({ engine, env: { BREAKER_CODES_PER_MINUTE: '2' } }, async (server) => {
        for (let count = 0; count < 2; count += 1)
          assert.equal((await askAsStranger(server)).statusCode, 202);
        await server.advance(LOOK_SECONDS);
        assert.equal((await askAsStranger(server)).statusCode, 428);
        await server.advance(-24 * 3_600);
        assert.equal((await askAsStranger(server)).statusCode, 202);
      }));

    it('is one for all processes, and tells the operator once', () =>
      withServer({ engine, env: { BREAKER_CODES_PER_MINUTE: '1' } }, async (server) => {
        assert.equal((await askAsStranger(server)).statusCode, 202);
        const opened: string[] = [];
        const processes = Array.from({ length: 4 }, () =>
          createBreaker({
            db: server.database.db,
            config: server.config,
            clock: server.now,
            onOpened: (reason) => opened.push(reason),
          }),
        );
        const states = await Promise.all(processes.map((breaker) => breaker.isOpen()));
        assert.deepEqual(states, [true, true, true, true]);
        assert.equal(opened.length, 1);
      }));
  });
}
