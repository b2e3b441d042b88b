import type { Finding, ToDo } from '#desk/endpoints/figures.ts';
import { createCache } from '#desk/server/handlers/cache.ts';
import { formatMinute } from '#desk/shown-time.ts';
import { counted } from '#desk/printable.ts';
import { sampleOnPage } from '#server/campaign/sample.ts';
import { countRefusals, isMailStuck, outboxBacklog } from '#server/db/tables/outbox.ts';
import { countEvents } from '#server/db/tables/webhook-events.ts';
import type { createWriteCheck } from '#server/db/health.ts';
import { describeWriteFault } from '#server/http/health.ts';
import { DAY_MS, isoTime, MINUTE_MS } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';

const NO_MAIL_ACCOUNT =
  'Visitors get no codes, because no mail account is set up. Set SMTP_URL and MAIL_FROM, and restart the site.';
const STANDSTILL_MS = 2 * MINUTE_MS;
/** Greylisting delays mail by up to five minutes; expired codes are dropped. */
const maxQueueTimeMs = ({ codeTtlSeconds }: Service['config']): number =>
  Math.min(6 * MINUTE_MS, 0.6 * codeTtlSeconds * 1000);

/** Reading the words takes 100 ms, and they rarely change. */
const SAMPLE_MAX_AGE_MS = MINUTE_MS;

export function createFindSample({ campaign, clock }: Pick<Service, 'campaign' | 'clock'>) {
  const cache = createCache<readonly string[]>({ maxAgeMs: SAMPLE_MAX_AGE_MS, maxEntries: 1, clock });
  return () => cache.get('', async () => sampleOnPage(campaign.folder));
}

export type ToDoParts = {
  readonly findSample: ReturnType<typeof createFindSample>;
  readonly findWriteFault: ReturnType<typeof createWriteCheck>;
  /** Returns undefined before the doctor's first run. */
  readonly findings: () => readonly Finding[] | undefined;
};

export async function toDoOf(
  { database, config, clock, warnings }: Service,
  { findWriteFault, findSample, findings }: ToDoParts,
): Promise<readonly ToDo[]> {
  const { db, engine } = database;
  const now = clock();
  const fault = await findWriteFault();
  const problems = (findings() ?? []).filter(({ state }) => state === 'problem');
  const toDo = [
    // First, because a new site has this problem until someone connects a mail account.
    ...(config.mail.kind === 'files' ? [problem(NO_MAIL_ACCOUNT, '/doctor')] : []),
    ...(fault === null ? [] : [problem(describeWriteFault(engine, fault), '/doctor')]),
    ...(await mailToDo(db, { now, maxWaitMs: maxQueueTimeMs(config), timeZone: config.timeZone })),
    ...(await eventsToDo(db)),
    ...problems.map(({ check, sentence }) => problem(`${check}: ${sentence}`, '/doctor')),
    ...sampleToDo(await findSample()),
    ...warnings.map(campaignWarning),
  ];
  return [
    ...toDo.filter(({ state }) => state === 'problem'),
    ...toDo.filter(({ state }) => state !== 'problem'),
  ];
}

const problem = (sentence: string, page: string): ToDo => ({ state: 'problem', sentence, page });
const warning = (sentence: string, page: string): ToDo => ({ state: 'warning', sentence, page });

/** The doctor lists each place. */
function sampleToDo(warned: readonly string[]): readonly ToDo[] {
  if (warned.length < 2) return warned.map(campaignWarning);
  const places = `The site still has the sample’s words, figures or pictures in ${warned.length} places.`;
  return [warning(`${places} Replace them before you invite visitors.`, '/doctor')];
}

/** Splits off the file and line at the beginning of a warning about the campaign. */
function campaignWarning(warned: string): ToDo {
  const [, place, sentence] = /^(\S+\.\w+(?::\d+)?): (.+)$/s.exec(warned) ?? [];
  return place === undefined || sentence === undefined
    ? warning(warned, '/doctor')
    : { ...warning(sentence, '/doctor'), place };
}

async function mailToDo(
  db: Service['database']['db'],
  {
    now,
    maxWaitMs,
    timeZone,
  }: { readonly now: number; readonly maxWaitMs: number; readonly timeZone: string },
): Promise<readonly ToDo[]> {
  const toDo: ToDo[] = [];
  const { depth, oldestCreatedAt = now } = await outboxBacklog(db);
  const waits = `${counted(depth, 'e-mail')} ${depth === 1 ? 'is' : 'are'} queued, the oldest since ${formatMinute(isoTime(oldestCreatedAt), timeZone)} (${timeZone})`;
  if (await isMailStuck(db, { now, durationMs: STANDSTILL_MS }))
    toDo.push(
      problem(
        `No e-mail has been sent for more than two minutes. ${waits}. Run the doctor to check the mail account.`,
        '/doctor',
      ),
    );
  else if (now - oldestCreatedAt >= maxWaitMs)
    toDo.push(warning(`${waits}. See which mail servers are delaying delivery.`, '/mail'));
  const refused = await countRefusals(db, now - DAY_MS);
  if (refused > 0)
    toDo.push(
      warning(
        `${counted(refused, 'e-mail')} ${refused === 1 ? 'was' : 'were'} permanently refused in the last day. Read the mail servers’ replies.`,
        '/mail',
      ),
    );
  return toDo;
}

async function eventsToDo(db: Service['database']['db']): Promise<readonly ToDo[]> {
  const { dead } = await countEvents(db);
  if (dead === 0) return [];
  return [
    warning(
      `${counted(dead, 'webhook event was', 'webhook events were')} given up. Fix the receiving program, and then send the ${dead === 1 ? 'event' : 'events'} again.`,
      '/mail',
    ),
  ];
}
