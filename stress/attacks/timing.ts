// Do responses to known and unknown e-mail addresses take the same time? A probability of 0.5 means no difference.
import { API } from '#shared/api.ts';
import { ENGINES } from '#testing/databases.ts';
import { becomeLeadAt } from '#testing/post-json.ts';
import { filledForm } from '#testing/server-under-test.ts';
import { defineCase } from '#stress/harness/cases.ts';
import { median } from '#stress/harness/report.ts';
import { newEmail, post, WITHOUT_LIMITS } from '#stress/harness/visitors.ts';

const KNOWN = 50;
const VERIFY = 'POST /api/verify';
const LONGER = 'probability that "known" takes longer';

export const timing = defineCase({ pairs: 1_000 }, async (trial, { pairs }) => {
  const rows = trial.rows();
  for (const engine of ENGINES) {
    await using site = await trial.prepareSite(engine, {
      env: {
        ...WITHOUT_LIMITS,
        LEADS_PER_EMAIL_PER_HOUR: '0',
        // Attempts are counted, but never used up.
        CODE_ATTEMPTS: '1000',
        RESEND_SECONDS: '0',
        LOG_LEVEL: 'fatal',
      },
    });
    const { url } = await site.start();
    const groups: Record<string, string[]> = { 'of a lead': [], 'waiting for a code': [] };
    for (let count = 0; count < KNOWN; count += 1) {
      const lead = newEmail();
      await becomeLeadAt(url, site.inbox, lead);
      groups['of a lead']?.push(lead);
      const email = newEmail();
      await post(`${url}${API.leads}`, filledForm({ email }));
      groups['waiting for a code']?.push(email);
    }
    const time = async (call: string, body: object): Promise<number> => {
      const start = performance.now();
      await post(url + call, body);
      return performance.now() - start;
    };
    // Chosen before any request, because requests change the set of live codes.
    const unknown = Array.from({ length: KNOWN }, () => newEmail());
    const calls = {
      [VERIFY]: (email: string) => time(API.verify, { email, code: '000000' }),
      'POST /api/leads': (email: string) => time(API.leads, filledForm({ email })),
    };
    for (const [name, call] of Object.entries(calls)) {
      for (const [group, emails] of Object.entries(groups)) {
        const times = { known: [] as number[], unknown: [] as number[] };
        for (let pair = 0; pair < pairs; pair += 1) {
          const email = emails[pair % KNOWN] ?? '';
          // Attempts leave traces, so both kinds repeat them. A request makes its e-mail address known.
          const stranger = name === VERIFY ? (unknown[pair % KNOWN] ?? '') : newEmail();
          if (name !== VERIFY) await calls[VERIFY](stranger);
          if (pair % 2 === 0) times.known.push(await call(email));
          times.unknown.push(await call(stranger));
          if (pair % 2 === 1) times.known.push(await call(email));
        }
        rows.add({
          call: name,
          engine,
          'the known address is': group,
          known: `${median(times.known).toFixed(2)} ms`,
          unknown: `${median(times.unknown).toFixed(2)} ms`,
          [LONGER]: probabilityLonger(times.known, times.unknown).toFixed(3),
        });
      }
    }
  }
  return `${pairs} responses of each kind. Probability that a known e-mail address takes longer: sqlite ${rows.range(LONGER, 'sqlite')}, postgres ${rows.range(LONGER, 'postgres')}`;
});

/** Mann-Whitney U, as a share of all pairs. */
function probabilityLonger(these: readonly number[], those: readonly number[]): number {
  let longer = 0;
  for (const a of these) for (const b of those) longer += a > b ? 1 : a === b ? 0.5 : 0;
  return longer / (these.length * those.length);
}
