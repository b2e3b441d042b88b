// Does the breaker open during list bombs, and only then? Simulates attacks and ordinary hours. Once it is open, or a network has
// used its share, a request for a code costs a proof of work, in short: it "pays".
import { v7 as uuid } from 'uuid';

import { API } from '#shared/api.ts';
import { codeIn } from '#testing/inbox.ts';
import { createRandom } from '#testing/random.ts';
import {
  createVisitor,
  filledForm,
  withServer,
  type ServerUnderTest,
  type Visitor,
} from '#testing/server-under-test.ts';
import { defineCase } from '#stress/harness/cases.ts';
import type { Rows } from '#stress/harness/report.ts';
import { ipAddress } from '#stress/harness/visitors.ts';

const MINUTES = 60;
const HOUR_MS = 3_600_000;
/** Then, nobody comes any more, but visitors who have come still enter their codes. */
const LAST_CODES_MINUTES = 15;
const PAST_DAYS = 8;
/** The attacker's goal: mails to strangers within an hour. */
const GOAL = 1_600;
/** LEADS_PER_IP_PER_HOUR's default. */
const LEADS_PER_NETWORK = 100;
const SEED = 20_261_121;

type Page = {
  /** Visitors per hour on previous days. */
  readonly usualPerHour: number;
  /** During the simulation, if not as usual. */
  readonly nowPerHour?: number;
  /** Share of visitors who do not enter their code. */
  readonly forgetful?: number;
  readonly forgetfulNow?: number;
  /** Share of addresses at free-mail providers. */
  readonly freeMailShare?: number;
  /** Share of visitors whose provider hides most of our mail. */
  readonly hiddenShare?: number;
  /** Number of IP addresses that all visitors share. */
  readonly sharedIps?: number;
  readonly sameCompany?: true;
  /** The visitors come within this many minutes, not an hour. */
  readonly within?: number;
  readonly noPastDays?: true;
};

const QUIET: Page = { usualPerHour: 20 };
const BUSY: Page = { usualPerHour: 600 };
const FORGETFUL: Page = { usualPerHour: 300, forgetful: 0.75 };
const PAGES = { quiet: QUIET, busy: BUSY, forgetful: FORGETFUL } as const;

type Attack = {
  readonly page: keyof typeof PAGES;
  readonly networks: number;
  /** Share of codes that the attacker enters, because they went to its own addresses. */
  readonly enters: number;
  readonly strangersAt: StrangersAt;
  /** Where these addresses are: at one domain unless stated. */
  readonly own?: { readonly domains?: number; readonly at?: 'gmail.com' };
  readonly within?: number;
};
const STRANGERS_AT = ['many domains', 'one domain', 'gmail.com'] as const;
type StrangersAt = (typeof STRANGERS_AT)[number];

const attacks = (
  page: keyof typeof PAGES,
  networks: readonly number[],
  enters: readonly number[],
  strangersAt: readonly StrangersAt[] = ['many domains'],
): Attack[] =>
  networks.flatMap((count) =>
    enters.flatMap((share) =>
      strangersAt.map((at) => ({ page, networks: count, enters: share, strangersAt: at })),
    ),
  );

/** Enters just enough: the breaker opens if more than BREAKER_UNENTERED_PERCENT (70) of the codes are not entered. */
const JUST_ENOUGH = 0.31;

const PROMISED: readonly Attack[] = [
  ...attacks('quiet', [1, 10, 24, 1_000], [0, JUST_ENOUGH, 0.5, 0.9]),
  ...attacks('quiet', [100], [JUST_ENOUGH], ['one domain', 'gmail.com']),
  ...attacks('busy', [1_000], [JUST_ENOUGH], STRANGERS_AT),
  ...attacks('forgetful', [1_000], [JUST_ENOUGH], STRANGERS_AT),
  ...attacks('busy', [10], [0]),
];
const MANY = { page: 'quiet', networks: 1_000, strangersAt: 'many domains' } as const;
/** The best known attacks, which are only measured, because nothing is promised about them. */
const OTHERS: readonly Attack[] = [
  { ...MANY, own: { domains: 100 }, enters: JUST_ENOUGH },
  { ...MANY, own: { domains: 300 }, enters: JUST_ENOUGH },
  { ...MANY, own: { at: 'gmail.com' }, enters: JUST_ENOUGH, strangersAt: 'gmail.com' },
  { ...MANY, enters: 0, within: 4 },
];

/** The promises of docs/security.md, "How much does a list bomb send?", with some tolerance. */
const FREE_FOR_A_NETWORK = 20;
const FEW_NETWORKS = 10;
const MAX_STRANGERS: Readonly<Record<keyof typeof PAGES, number>> = {
  quiet: 300,
  busy: 700,
  forgetful: GOAL,
};

const HONEST_HOURS: Readonly<Record<string, Page & { readonly mayPay?: true }>> = {
  'a quiet page': QUIET,
  'a busy page': BUSY,
  'three of four visitors forget, as usual': FORGETFUL,
  'a page without a past': { usualPerHour: 300, noPastDays: true },
  'a campaign: 20 times as many as usual': { usualPerHour: 60, nowPerHour: 1_200 },
  'a campaign whose visitors forget more': { usualPerHour: 60, nowPerHour: 1_200, forgetfulNow: 0.6 },
  'nine of ten at free-mail providers': { usualPerHour: 400, freeMailShare: 0.9 },
  'a provider that hides most of our mail': { usualPerHour: 600, hiddenShare: 0.3 },
  'an all-hands: 90 people of one company, one IP address, in 10 minutes': {
    usualPerHour: 20,
    nowPerHour: 90,
    within: 10,
    forgetfulNow: 0.15,
    sharedIps: 1,
    sameCompany: true,
    mayPay: true,
  },
  'a phone network: 300 people, six IP addresses': {
    usualPerHour: 300,
    freeMailShare: 0.8,
    sharedIps: 6,
    mayPay: true,
  },
};

/** @param hours simulated hours of each kind; Infinity for all */
export const breaker = defineCase({ hours: Infinity }, async (trial, { hours }) => {
  const attackRows = trial.rows();
  const otherRows = trial.rows();
  const simulateAttack = async (attack: Attack, rows: Rows) => {
    const { page, networks, enters, strangersAt, own, within } = attack;
    const outcome = await simulate(PAGES[page], attack);
    const ownAt = own?.at ?? (own?.domains ? `${own.domains} domains` : 'one domain');
    const what = {
      page,
      networks,
      'entered by the attacker, at': enters === 0 ? '0 %' : `${Math.round(enters * 100)} %, ${ownAt}`,
      'strangers at': strangersAt + (within ? `, in ${within} min` : ''),
    };
    rows.add({
      ...what,
      'opened after': describeOpening(outcome),
      'strangers mailed': outcome.strangersMailed,
      'requests that needed a proof of work before': outcome.attackerPays,
      'visitors who had to pay before': outcome.visitorsPay,
    });
    return { ...outcome, name: Object.values(what).join(', ') };
  };
  for (const attack of PROMISED.slice(0, hours)) {
    const { page, networks } = attack;
    const { name, openedAfter, strangersMailed, visitorsPay } = await simulateAttack(attack, attackRows);
    const isFew = networks <= FEW_NETWORKS;
    trial.expect(!isFew || openedAfter === null, `${name}: a few networks opened it for all visitors.`);
    trial.expect(
      strangersMailed <= (isFew ? networks * FREE_FOR_A_NETWORK : MAX_STRANGERS[page]),
      `${name}: ${strangersMailed} strangers were mailed${isFew ? ' for nothing' : ''}.`,
    );
    trial.expect(visitorsPay === 0, `${name}: visitors needed a proof of work before it opened.`);
  }
  for (const attack of OTHERS.slice(0, hours)) await simulateAttack(attack, otherRows);

  let falseAlarms = 0;
  const honestRows = trial.rows();
  for (const [name, { mayPay, ...page }] of Object.entries(HONEST_HOURS).slice(0, hours)) {
    const outcome = await simulate(page, null);
    const { visitors, visitorsPay, openedAfter } = outcome;
    if (openedAfter !== null) falseAlarms += 1;
    honestRows.add({
      'an honest hour': name,
      visitors,
      opened: describeOpening(outcome),
      'visitors who had to pay': visitorsPay,
    });
    trial.expect(openedAfter === null, `${name}: a false alarm.`);
    trial.expect(
      visitorsPay === 0 || mayPay === true,
      `${name}: ${visitorsPay} visitors needed a proof of work.`,
    );
  }

  const mailed = Object.keys(PAGES).map(
    (page) => `${attackRows.range('strangers mailed', page)} (${page} page)`,
  );
  return (
    `Up to 1,600 strangers an hour; mailed before the breaker opened or the network had to pay: ${mailed.join(', ')}; ` +
    `by attacks that get through: ${otherRows.range('strangers mailed')}. ` +
    `Honest hours: ${falseAlarms} false alarms, ${honestRows.range('visitors who had to pay')} visitors had to pay`
  );
});

const describeOpening = ({ openedAfter }: Outcome): string =>
  openedAfter === null ? 'no' : `${openedAfter} min`;

type Outcome = {
  /** In minutes. */
  readonly openedAfter: number | null;
  // Until the breaker opened or in the whole hour:
  /** Mails without a proof of work. */
  readonly strangersMailed: number;
  readonly attackerPays: number;
  readonly visitors: number;
  readonly visitorsPay: number;
};

const simulate = (page: Page, attack: Attack | null): Promise<Outcome> =>
  withServer({ engine: 'sqlite' }, async (server) => {
    const random = createRandom(SEED);
    const newPerson = createPeople(page, random);
    await writeHistory(server, page, newPerson);
    const attacker = attack && createAttacker(server, attack, random);
    const perMinute = (page.nowPerHour ?? page.usualPerHour) / (page.within ?? MINUTES);
    const waiting: { browser: Visitor; email: string; entersAt: number }[] = [];
    let visitors = 0;
    let visitorsPay = 0;
    let due = 0;
    let openedAfter: number | null = null;
    for (let minute = 0; minute < MINUTES + LAST_CODES_MINUTES && openedAfter === null; minute += 1) {
      if (minute < (page.within ?? MINUTES)) due += perMinute;
      for (; visitors < Math.floor(due); visitors += 1) {
        const { email, ip, enters } = newPerson(false);
        const browser = createVisitor(server, ip);
        const { statusCode } = await browser.post(API.leads, filledForm({ email }));
        if (statusCode === 428 && server.breakerReasons.length === 0) visitorsPay += 1;
        const patience = random();
        const after = patience < 0.7 ? 1 : patience < 0.9 ? 2 : 4;
        if (statusCode === 202 && enters) waiting.push({ browser, email, entersAt: minute + after });
      }
      if (minute < MINUTES) await attacker?.act();
      await server.advance(60);
      const passed = minute + 1;
      const entering = waiting.filter((one) => one.entersAt <= passed);
      for (const { browser, email } of entering) {
        const code = codeIn(await server.inbox.waitForMail(email));
        await browser.post(API.verify, { email, code });
      }
      waiting.splice(0, waiting.length, ...waiting.filter((one) => one.entersAt > passed));
      if (server.breakerReasons.length > 0) openedAfter = passed;
    }
    return {
      openedAfter,
      strangersMailed: attacker?.tally.mailed ?? 0,
      attackerPays: attacker?.tally.refused ?? 0,
      visitors,
      visitorsPay,
    };
  });

const FREE_MAIL = ['gmail.com', 'gmail.com', 'gmail.com', 'yahoo.com', 'icloud.com'] as const;
const HIDING_SHARE = 0.8;

type Person = { readonly email: string; readonly ip: string; readonly enters: boolean };

function createPeople(page: Page, random: () => number) {
  const { forgetful = 0.4, freeMailShare = 0.5 } = page;
  let people = 0;
  return (isPast: boolean): Person => {
    people += 1;
    const hidden = random() < (page.hiddenShare ?? 0);
    const freeMail = FREE_MAIL[Math.floor(random() * FREE_MAIL.length)] ?? FREE_MAIL[0];
    const company = random() < 0.3 ? `company-${Math.floor(random() * 40)}.com` : `company-${people}.co.uk`;
    let domain: string = random() < freeMailShare ? freeMail : company;
    if (hidden) domain = 'outlook.com';
    if (page.sameCompany && !isPast) domain = 'all-hands.com';
    const forgets = hidden ? HIDING_SHARE : isPast ? forgetful : (page.forgetfulNow ?? forgetful);
    const shared = !isPast && page.sharedIps !== undefined;
    return {
      email: `visitor-${people}@${domain}`,
      ip: shared ? ipAddress(people % page.sharedIps, 12) : ipAddress(people, 11),
      enters: random() >= forgets,
    };
  };
}

async function writeHistory(
  { database: { db }, now }: ServerUnderTest,
  page: Page,
  newPerson: (isPast: boolean) => Person,
): Promise<void> {
  const write = async (count: number, from: number, to: number) => {
    const codes = Array.from({ length: count }, (_, index) => {
      const at = Math.floor(from + ((to - from) * index) / count);
      const person = newPerson(true);
      return {
        id: uuid({ msecs: at }),
        submission_id: null,
        email: person.email,
        client_address: person.ip,
        secret_id: 'past',
        created_at: at,
        expires_at: at,
        used_at: person.enters ? at : null,
      };
    });
    for (let start = 0; start < codes.length; start += 500)
      await db
        .insertInto('codes')
        .values(codes.slice(start, start + 500))
        .execute();
  };
  const recent = now() - 2 * HOUR_MS;
  // Eight hours a day; the breaker reads at most its newest 2,000 rows.
  const aDay = Math.min(2_000, page.usualPerHour * 8);
  if (!page.noPastDays)
    for (let day = PAST_DAYS; day >= 1; day -= 1)
      await write(aDay, recent - day * 24 * HOUR_MS, recent - day * 24 * HOUR_MS + 8 * HOUR_MS);
  await write(page.usualPerHour * 2, recent, now());
}

function createAttacker(server: ServerUnderTest, attack: Attack, random: () => number) {
  const total = GOAL / (1 - attack.enters);
  const perMinute = total / (attack.within ?? MINUTES);
  const mailsPerNetwork = new Map<number, number>();
  const waiting: { browser: Visitor; email: string }[] = [];
  const tally = { mailed: 0, refused: 0 };
  let requested = 0;
  let due = 0;

  const strangerEmail = (n: number): string => {
    if (attack.strangersAt === 'many domains') return `stranger@victim-${n}.com`;
    return `stranger-${n}@${attack.strangersAt === 'one domain' ? 'victim.com' : 'gmail.com'}`;
  };
  const attackerEmail = (n: number): string => {
    if (attack.own?.at) return `mailbox${n}@${attack.own.at}`;
    return `${n}@attacker-${n % (attack.own?.domains ?? 1)}.com`;
  };

  return {
    tally,
    act: async (): Promise<void> => {
      for (const { browser, email } of waiting.splice(0)) {
        const code = codeIn(await server.inbox.waitForMail(email));
        await browser.post(API.verify, { email, code });
      }
      due = Math.min(total, due + perMinute);
      for (; requested < due; requested += 1) {
        const network = requested % attack.networks;
        if ((mailsPerNetwork.get(network) ?? 0) >= LEADS_PER_NETWORK) continue;
        const own = random() < attack.enters;
        const email = own ? attackerEmail(requested) : strangerEmail(requested);
        const browser = createVisitor(server, ipAddress(network, 66));
        const { statusCode } = await browser.post(API.leads, filledForm({ email }));
        if (server.breakerReasons.length > 0) return;
        if (statusCode === 428) tally.refused += 1;
        if (statusCode !== 202) continue;
        mailsPerNetwork.set(network, (mailsPerNetwork.get(network) ?? 0) + 1);
        if (own) waiting.push({ browser, email });
        else tally.mailed += 1;
      }
    },
  };
}
