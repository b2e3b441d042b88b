// Do answers to known and to unknown addresses take the same time? Asked in turns, over HTTP. The measure is the probability
// that an answer about a known address took longer than one about an unknown one: 0.5 is "no difference at all".
// Usage: timing.ts [pairs]
import { API } from '#shared/api.ts';
import { codeIn } from '#testing/inbox.ts';
import { startPostgres } from '#testing/postgres-server.ts';
import { ENGINES, POSTGRES_URL_VARIABLE } from '#testing/databases.ts';
import { filledForm } from '#testing/server-under-test.ts';
import { startSite, type Site } from '#testing/start-site.ts';
import { measuredOn, median, table, writeReport } from '#proofs/report.ts';
import { newAddress, post, WITHOUT_LIMITS } from '#proofs/visitors.ts';

const PAIRS = Number(process.argv[2] ?? 1_000);
const KNOWN = 50;
const VERIFY = 'POST /api/verify';

/** Mann and Whitney's U, as a share of all pairs. */
function probabilityLonger(these: readonly number[], those: readonly number[]): number {
  let longer = 0;
  for (const a of these) for (const b of those) longer += a > b ? 1 : a === b ? 0.5 : 0;
  return longer / (these.length * those.length);
}

async function becomeLead(site: Site): Promise<string> {
  const email = newAddress();
  const asked = await post(`${site.url}${API.leads}`, filledForm({ email }));
  const code = codeIn(await site.inbox.waitForMail(email));
  const verified = await post(`${site.url}${API.verify}`, { email, code }, asked.cookie);
  if (verified.status !== 200) throw new Error(`${verified.status}: ${verified.body}`);
  return email;
}

const postgres = await startPostgres();
process.env[POSTGRES_URL_VARIABLE] = postgres.url;
const rows: string[][] = [];
for (const engine of ENGINES) {
  const site = await startSite({
    engine,
    env: {
      ...WITHOUT_LIMITS,
      LEADS_PER_EMAIL_PER_HOUR: '0',
      // Tries are counted, and never used up.
      CODE_ATTEMPTS: '1000',
      RESEND_SECONDS: '0',
      LOG_LEVEL: 'fatal',
    },
  });
  const groups: Record<string, string[]> = { 'of a lead': [], 'waiting for a code': [] };
  for (let count = 0; count < KNOWN; count += 1) {
    groups['of a lead']?.push(await becomeLead(site));
    const email = newAddress();
    await post(`${site.url}${API.leads}`, filledForm({ email }));
    groups['waiting for a code']?.push(email);
  }
  const time = async (url: string, body: object): Promise<number> => {
    const start = performance.now();
    await post(url, body);
    return performance.now() - start;
  };
  // Codes are entered first: asking for new ones changes who waits for one.
  const unknown = Array.from({ length: KNOWN }, () => newAddress());
  const calls = {
    [VERIFY]: (email: string) => time(`${site.url}${API.verify}`, { email, code: '000000' }),
    'POST /api/leads': (email: string) => time(`${site.url}${API.leads}`, filledForm({ email })),
  };
  for (const [name, call] of Object.entries(calls)) {
    for (const [group, emails] of Object.entries(groups)) {
      const times = { known: [] as number[], unknown: [] as number[] };
      for (let pair = 0; pair < PAIRS; pair += 1) {
        const email = emails[pair % KNOWN] ?? '';
        // Tries leave traces, so both kinds are tried. Asking would make an address known: that takes a new one each time.
        const stranger = name === VERIFY ? (unknown[pair % KNOWN] ?? '') : newAddress();
        if (name !== VERIFY) await calls[VERIFY](stranger);
        // Whoever comes second must not always be the same.
        if (pair % 2 === 0) times.known.push(await call(email));
        times.unknown.push(await call(stranger));
        if (pair % 2 === 1) times.known.push(await call(email));
      }
      rows.push([
        name,
        engine,
        group,
        `${median(times.known).toFixed(2)} ms`,
        `${median(times.unknown).toFixed(2)} ms`,
        probabilityLonger(times.known, times.unknown).toFixed(3),
      ]);
      process.stdout.write(`${rows.at(-1)?.join(' | ')}\n`);
    }
  }
  await site.close();
}
await postgres.stop();
await writeReport(
  'security.md',
  'timing',
  `${measuredOn()} ${PAIRS} answers of each kind, medians.\n\n${table(
    ['call', 'engine', 'the known address is', 'known', 'unknown', 'probability that "known" takes longer'],
    rows,
  )}`,
);
