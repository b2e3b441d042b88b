import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  challengeOf,
  INITIAL_STATE,
  restoredState,
  stageReducer,
  type StageEvent,
  type StageState,
} from '#web/stage.ts';

const LEAD = { name: 'Ada Lovelace', company: 'Engines', email: 'ada@example.com', consent: true } as const;
const CHALLENGE = { id: 'c', reference: 'QFX', resendAt: 60_000, askedAt: 0, consentVersion: 'abc' };

const after = (...events: StageEvent[]): StageState => events.reduce(stageReducer, INITIAL_STATE);

const PRESSED: StageEvent = { type: 'call to action pressed' };
const REQUESTED: StageEvent = { type: 'code requested', lead: LEAD, challenge: CHALLENGE };
const VERIFIED: StageEvent = { type: 'code verified' };

describe('the stage', () => {
  it('goes from landing to form, verification, content and back, and Back clears the lead', () => {
    assert.equal(after().stage, 'landing');
    assert.equal(after(PRESSED).stage, 'form');
    assert.deepEqual(after(PRESSED, REQUESTED), { stage: 'verification', lead: LEAD, challenge: CHALLENGE });
    assert.equal(after(PRESSED, REQUESTED, VERIFIED).stage, 'content');
    assert.deepEqual(after(PRESSED, REQUESTED, VERIFIED, { type: 'article left' }), INITIAL_STATE);
  });

  it('stays in verification when the code is sent again', () => {
    const challenge = { ...CHALLENGE, reference: 'NEW' };
    const state = after(PRESSED, REQUESTED, { ...REQUESTED, challenge });
    assert.equal(state.stage, 'verification');
    assert.equal(state.challenge?.reference, 'NEW');
  });

  it('keeps the lead for correcting the address', () => {
    const state = after(PRESSED, REQUESTED, { type: 'address to be corrected' });
    assert.equal(state.stage, 'form');
    assert.deepEqual(state.lead, LEAD);
  });

  it('follows the browser back and forward, and never to a code screen without a code', () => {
    const back = stageReducer(after(PRESSED, REQUESTED), { type: 'history moved', stage: 'form' });
    assert.equal(back.stage, 'form');
    assert.equal(stageReducer(back, { type: 'history moved', stage: 'verification' }).stage, 'verification');
    const read = after(PRESSED, REQUESTED, VERIFIED);
    assert.equal(stageReducer(read, { type: 'history moved', stage: 'verification' }).stage, 'form');
    assert.equal(stageReducer(INITIAL_STATE, { type: 'history moved', stage: 'verification' }).stage, 'form');
  });
});

describe('a challenge', () => {
  it('counts 60 seconds down, longer only where the server waits longer', () => {
    const at = (resendSeconds: number) =>
      challengeOf({ challengeId: 'c', reference: 'QFX', resendSeconds }, 'abc', 1000).resendAt;
    assert.equal(at(60), 61_000);
    assert.equal(at(0), 61_000);
    assert.equal(at(120), 121_000);
    assert.deepEqual(challengeOf(null, 'abc', 1000), {
      id: '',
      reference: null,
      resendAt: 61_000,
      askedAt: 1000,
      consentVersion: 'abc',
    });
  });

  it('goes on after a reload where it was', () => {
    const open = {
      name: 'Ada',
      company: 'Engines',
      email: 'a@example.com',
      reference: 'QFX',
      resendSeconds: 25,
      consentVersion: 'of the form, not of this page',
    };
    const state = restoredState(open, 'c', 100_000);
    assert.equal(state.stage, 'verification');
    assert.equal(state.lead?.email, 'a@example.com');
    assert.deepEqual(state.challenge, {
      id: 'c',
      reference: 'QFX',
      resendAt: 125_000,
      askedAt: 65_000,
      consentVersion: 'of the form, not of this page',
    });
  });
});
