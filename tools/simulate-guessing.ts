// How likely is it that a stranger guesses a code? Attacks the real application (a database in memory, a clock that is
// moved) for a day: 10,000 network addresses against one e-mail address, in every way the API offers. The table goes into
// docs/security.md.
//
// Nobody guesses right here: a day's odds are too small to be seen by trying. What is counted is how often a guess was
// compared with a live code, each time a chance of one in a million; the sum of them bounds the odds.
import { acceptedCodes } from '#server/db/codes.ts';
import { findOpenChallenge } from '#server/db/challenges.ts';
import { deriveSecrets, unsign } from '#server/access/secrets.ts';
import { CODE_LENGTH } from '#shared/limits.ts';
import { API } from '#shared/api.ts';
import {
  createVisitor,
  filledForm,
  withServer,
  type ServerUnderTest,
  type Visitor,
} from '#testing/server-under-test.ts';
import { measuredOn, table, writeReport } from '#tools/report.ts';

const VICTIM = 'victim@example.com';
const ADDRESSES = 10_000;
const DAY_SECONDS = 24 * 3600;
const POSSIBILITIES = 10 ** CODE_LENGTH;

type Tally = { requests: number; codes: number; guesses: number; chances: number };

/** The attacker's hands: every call comes from the next of the 10,000 addresses. */
function createAttacker(server: ServerUnderTest) {
  const secrets = deriveSecrets(server.config.appSecrets);
  const tally: Tally = { requests: 0, codes: 0, guesses: 0, chances: 0 };
  let address = 0;
  const newBrowser = (): Visitor => {
    address = (address + 1) % ADDRESSES;
    return createVisitor(server, `10.${address >> 16}.${(address >> 8) & 255}.${address & 255}`);
  };

  /** How many codes a guess of this browser would be compared with now: what verify-code.ts asks the database. */
  const codesAtStake = async (browser: Visitor): Promise<number> => {
    const { db } = server.database;
    const cookie = unsign(secrets, browser.cookies.get('challenge') ?? '');
    const browserId = cookie?.replace(/^challenge:/, '') ?? null;
    const challenge =
      browserId === null
        ? undefined
        : await findOpenChallenge(db, { browserId, email: VICTIM, now: server.now() });
    const owner = challenge && challenge.codes_sent > 0 ? { challengeId: challenge.id } : { email: VICTIM };
    return (await acceptedCodes(db, owner, server.now())).length;
  };

  return {
    tally,
    newBrowser,
    ask: async (browser: Visitor): Promise<boolean> => {
      tally.requests += 1;
      const before = await server.countRows('codes');
      const response = await browser.post(API.leads, filledForm({ email: VICTIM }));
      tally.codes += (await server.countRows('codes')) - before;
      return response.statusCode === 202;
    },
    /** Guesses until it is stopped. */
    guess: async (browser: Visitor): Promise<void> => {
      for (;;) {
        const stake = await codesAtStake(browser);
        tally.requests += 1;
        // Never the same digits as the code, or the game would be over: the right one is found by counting.
        const response = await browser.post(API.verify, { email: VICTIM, code: '000000' });
        if (response.statusCode === 429) return;
        if (response.statusCode === 200)
          throw new Error('A guess was right: one in a million. Run it again.');
        tally.guesses += 1;
        tally.chances += stake;
        if (stake === 0) return;
      }
    },
  };
}
type Attacker = ReturnType<typeof createAttacker>;

/** What an attacker does every minute. */
type Strategy = (attacker: Attacker) => () => Promise<void>;

const ASKS_EACH_MINUTE = 8;

/** A new browser for each code, and all its tries. */
const ownChallenges: Strategy = (attacker) => async () => {
  for (let count = 0; count < ASKS_EACH_MINUTE; count += 1) {
    const browser = attacker.newBrowser();
    if (await attacker.ask(browser)) await attacker.guess(browser);
  }
};

/** A browser waits until two codes are live, so that each try has two chances. */
const patientChallenges: Strategy = (attacker) => {
  let waiting: Visitor[] = [];
  return async () => {
    for (const browser of waiting) {
      await attacker.ask(browser);
      await attacker.guess(browser);
    }
    waiting = [];
    const browser = attacker.newBrowser();
    if (await attacker.ask(browser)) waiting.push(browser);
  };
};

/** One browser keeps a code alive; all the others guess at it without a challenge of their own. */
const withoutChallenge: Strategy = (attacker) => async () => {
  await attacker.ask(attacker.newBrowser());
  for (let count = 0; count < ASKS_EACH_MINUTE; count += 1) await attacker.guess(attacker.newBrowser());
};

/** The minutes after which the shared budget has its next five tries. */
const SHARED_PAUSE_MINUTES = 12;

/**
 * The best we know: two codes alive at once, first the shared budget, in which each try has two chances, then the tries of
 * both challenges; and so on when the shared budget opens again.
 */
const everything: Strategy = (attacker) => {
  let minute = -1;
  let browsers: Visitor[] = [];
  return async () => {
    minute += 1;
    if (minute % SHARED_PAUSE_MINUTES > 1) return;
    const browser = attacker.newBrowser();
    if (await attacker.ask(browser)) browsers.push(browser);
    if (minute % SHARED_PAUSE_MINUTES === 0) return;
    for (let count = 0; count < ASKS_EACH_MINUTE; count += 1) await attacker.guess(attacker.newBrowser());
    for (const own of browsers) await attacker.guess(own);
    browsers = [];
  };
};

const STRATEGIES: Readonly<Record<string, Strategy>> = {
  'a new challenge for every code': ownChallenges,
  'two codes in every challenge': patientChallenges,
  'no challenge of its own': withoutChallenge,
  'all of it, the shared budget first': everything,
};

const rows: string[][] = [];
let worst = 0;
for (const [name, strategy] of Object.entries(STRATEGIES)) {
  await withServer({ engine: 'sqlite' }, async (server) => {
    const attacker = createAttacker(server);
    const act = strategy(attacker);
    for (let second = 0; second < DAY_SECONDS; second += 60) {
      await act();
      await server.advance(60);
    }
    const { requests, codes, guesses, chances } = attacker.tally;
    worst = Math.max(worst, chances);
    rows.push([
      name,
      String(requests),
      String(codes),
      String(guesses),
      String(chances),
      `1 in ${Math.round(POSSIBILITIES / chances).toLocaleString('en')}`,
    ]);
    process.stdout.write(`${rows.at(-1)?.join(' | ')}\n`);
  });
}
await writeReport(
  'security.md',
  'guessing',
  `${measuredOn()}\n\n${table(['strategy', 'requests', 'codes mailed', 'guesses compared', 'chances in a million', 'odds in a day'], rows)}`,
);
// The promise of docs/security.md.
if (worst * 10_000 > POSSIBILITIES) {
  process.stderr.write('A stranger can guess a code with odds above 1 in 10,000 a day.\n');
  process.exitCode = 1;
}
