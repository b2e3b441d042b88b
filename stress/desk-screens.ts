// Server time of the desk's screens, searches and filters with a million leads. Usage: desk-screens.ts [leads] [--dry]
import { setImmediate } from 'node:timers/promises';

import type { PeoplePage } from '#desk/endpoints/people.ts';
import { fillHistory } from '#stress/harness/history.ts';
import { argument, createProof } from '#stress/harness/proof.ts';
import { ENGINES, type Engine } from '#testing/databases.ts';
import { askedDesk } from '#testing/desk-handlers.ts';
import { openTestService } from '#testing/open-test-service.ts';

const LEADS = argument(0, 1_000_000);
const MOST_MS = 300;
const DAY_MS = 86_400_000;

const proof = createProof('prove:desk-screens');
const rows = proof.rows('what', 'engine', 'requests', 'first, ms', 'slowest, ms', 'all, s');

async function measure(engine: Engine): Promise<void> {
  const site = await proof.prepareSite(engine);
  try {
    await fillHistory({ ...site, engine }, LEADS);
    const service = await openTestService(site.folder, site.env);
    const { ask, warmUp } = askedDesk(service);
    const timed = async <Answer>(work: () => Promise<Answer>): Promise<readonly [Answer, number]> => {
      await setImmediate();
      const begun = performance.now();
      const answer = await work();
      return [answer, performance.now() - begun];
    };
    const add = (what: string, times: readonly number[]): void => {
      const slowest = Math.max(...times);
      const all = times.reduce((sum, ms) => sum + ms, 0);
      rows.add(
        what,
        engine,
        times.length,
        Math.round(times[0]!),
        Math.round(slowest),
        (all / 1000).toFixed(1),
      );
      proof.expect(slowest <= MOST_MS, `${engine}: ${what} took ${Math.round(slowest)} ms in one request`);
    };
    const toTheEnd = async (what: string, filter: object): Promise<number> => {
      const times: number[] = [];
      let people = 0;
      for (let after: string | null | undefined; after !== null;) {
        const [page, ms]: readonly [PeoplePage | null, number] = await timed(() =>
          ask('people', { ...filter, ...(after && { after }) }),
        );
        times.push(ms);
        people += page?.people.length ?? 0;
        after = page?.next ?? null;
      }
      add(what, times);
      return people;
    };
    const once = async <Name extends Parameters<typeof ask>[0]>(what: string, name: Name, asked = {}) => {
      const [answer, ms] = await timed(() => ask(name, asked));
      add(what, [ms]);
      return answer!;
    };
    const [, warmMs] = await timed(warmUp);
    rows.add('counting past days, once at the start', engine, '', '', '', (warmMs / 1000).toFixed(1));
    const today = await once('today', 'today');
    proof.expect(today.newest.length > 0, `${engine}: today shows no leads`);
    const first = await once('leads, the newest', 'people');
    await once('leads, the next page', 'people', { after: first.next });
    await once('a person', 'story', { id: first.people[0]!.id });
    const found = await once('the whole address of the oldest lead', 'people', {
      search: 'past-1@example.com',
    });
    proof.expect(found.people.length === 1, `${engine}: the oldest lead was not found`);
    await once('a name that everyone has', 'people', { search: 'lovelace' });
    const part = await toTheEnd('a part of an address, to the end', { search: `past-${LEADS}@` });
    proof.expect(part === 1, `${engine}: a part of an address found ${part}`);
    await toTheEnd('a text that no one has, to the end', { search: 'nobody' });
    await toTheEnd('a source that no one came from, to the end', { source: 'webinar' });
    await toTheEnd('a company’s domain without leads, to the end', { domain: 'example.org' });
    await toTheEnd('a flag that no one has, to the end', { flag: 'disposable' });
    await toTheEnd('suppressed, to the end', { state: 'suppressed' });
    await toTheEnd('unverified, to the end', { state: 'unverified' });
    const day = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10);
    await once('leads of a day long ago', 'people', { from: day(60), to: day(60) });
    await toTheEnd('a text that no one has, in one week', { search: 'nobody', from: day(60), to: day(54) });
    await once('choices', 'choices');
    await once('domains, the first part', 'domains');
    await once('lost, the first part of a month', 'lost', { from: day(30), to: day(0) });
    await once('mail', 'mail');
    await once('suppressions', 'suppressions');
    await once('webhooks', 'webhooks');
    await service.close();
  } finally {
    await site.close();
  }
}

for (const engine of ENGINES) await measure(engine);
await proof.end(
  `${LEADS.toLocaleString('en')} leads. ${ENGINES.map((engine) => `${engine}: slowest request of each page ${rows.range('slowest, ms', engine)} ms; ${rows.range('requests', engine)} requests, ${rows.range('all, s', engine)} s to the end of a list`).join('. ')}`,
  rows.table(),
);
