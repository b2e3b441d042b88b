import assert from 'node:assert/strict';
import { it } from 'node:test';

import {
  challengeOf,
  INITIAL_STATE,
  OPEN_ARTICLE,
  restoredState,
  stageReducer,
  type StageEvent,
  type StageState,
} from '#web/stage.ts';

const LEAD = { name: 'Ada Lovelace', company: 'Engines', email: 'ada@example.com', consent: true } as const;
const CHALLENGE = {
  id: 'c',
  reference: 'QFX',
  resendAt: 60_000,
  askedAt: 0,
  consentVersion: 'abc',
  sender: '',
};

const OPEN = {
  name: LEAD.name,
  company: LEAD.company,
  email: LEAD.email,
  reference: 'QFX',
  resendSeconds: 60,
  askedSecondsAgo: 0,
  consentVersion: 'of the form, not of this page',
  newsConsentVersion: '0123456789ab',
  mail: 'sent' as const,
  sender: 'guide@example.com',
};

const after = (...events: StageEvent[]): StageState => events.reduce(stageReducer, INITIAL_STATE);

const PRESSED: StageEvent = { type: 'call to action pressed' };
const WAITING = { lead: LEAD, challenge: CHALLENGE };
const REQUESTED: StageEvent = { type: 'code requested', waiting: WAITING };
const VERIFIED: StageEvent = { type: 'code verified' };

it('stageReducer moves through all stages, and leaving the article clears the lead', () => {
  assert.equal(after().stage, 'landing');
  assert.equal(after(PRESSED).stage, 'form');
  assert.deepEqual(after(PRESSED, REQUESTED), { stage: 'verification', waiting: WAITING });
  assert.equal(after(PRESSED, REQUESTED, VERIFIED).stage, 'content');
  assert.deepEqual(after(PRESSED, REQUESTED, VERIFIED, { type: 'article left' }), INITIAL_STATE);
});

it('stageReducer stays in verification after a resend', () => {
  const challenge = { ...CHALLENGE, reference: 'NEW' };
  const state = after(PRESSED, REQUESTED, { type: 'code requested', waiting: { lead: LEAD, challenge } });
  assert.equal(state.stage, 'verification');
  assert.equal(state.waiting?.challenge.reference, 'NEW');
});

it('stageReducer stores the code of a late resend response without changing the stage', () => {
  const again = {
    type: 'code sent again',
    waiting: { lead: LEAD, challenge: { ...CHALLENGE, reference: 'NEW' } },
  } as const;
  const state = after(PRESSED, REQUESTED, { type: 'email to be corrected' }, again);
  assert.equal(state.stage, 'form');
  assert.deepEqual(state.waiting, again.waiting);
  const elsewhere = { lead: { ...LEAD }, challenge: CHALLENGE };
  assert.deepEqual(after(PRESSED, { type: 'code requested', waiting: elsewhere }, again).waiting, elsewhere);
  assert.deepEqual(after(PRESSED, REQUESTED, VERIFIED, again), after(PRESSED, REQUESTED, VERIFIED));
});

it('stageReducer restores a challenge by ID, or shows the form without one', () => {
  const moved = stageReducer(INITIAL_STATE, {
    type: 'history moved',
    stage: 'verification',
    challengeId: 'c',
  });
  assert.deepEqual(moved, { stage: 'verification', waiting: null, challengeId: 'c' });
  const restored = (state: StageState) => stageReducer(moved, { type: 'restored', state });
  assert.deepEqual(restored({ stage: 'verification', waiting: WAITING }).waiting, WAITING);
  assert.deepEqual(restored(restoredState(null, 'c', 0)), { stage: 'form', waiting: null });
  const entered = { ...OPEN, verified: true };
  assert.deepEqual(restored(restoredState(entered, 'c', 0)), OPEN_ARTICLE);
});

it('stageReducer follows Back and Forward, but never to a code screen without a code', () => {
  const back = stageReducer(after(PRESSED, REQUESTED), { type: 'history moved', stage: 'form' });
  assert.equal(back.stage, 'form');
  assert.equal(stageReducer(back, { type: 'history moved', stage: 'verification' }).stage, 'verification');
  const read = after(PRESSED, REQUESTED, VERIFIED);
  assert.equal(stageReducer(read, { type: 'history moved', stage: 'verification' }).stage, 'form');
  assert.equal(stageReducer(INITIAL_STATE, { type: 'history moved', stage: 'verification' }).stage, 'form');
});

it('challengeOf counts down 60 seconds, or longer if the server requires it', () => {
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
    sender: '',
  });
});

it('restoredState continues the countdown after a reload', () => {
  const [asked, now] = [1_000, 46_000];
  for (const resendSeconds of [30, 60, 120]) {
    const response = { challengeId: 'c', reference: 'QFX', resendSeconds, sender: 'guide@example.com' };
    const open = { ...OPEN, resendSeconds: Math.max(0, resendSeconds - 45), askedSecondsAgo: 45 };
    const { stage, waiting } = restoredState(open, 'c', now);
    assert.equal(stage, 'verification');
    assert.deepEqual(waiting?.challenge, challengeOf(response, open.consentVersion, asked));
    const { newsConsentVersion } = open;
    assert.deepEqual(waiting?.lead, { ...LEAD, newsConsentVersion, answers: undefined });
  }
});
