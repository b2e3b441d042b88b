import { statSync } from 'node:fs';

import { CLOCKS_DIFFER_MS, isoTime } from '#server/platform/time.ts';
import type { Config } from '#server/settings/settings.ts';
import { findDamage, readDatabaseState, type DatabaseState } from '#server/db/health.ts';
import { about, reasonOf, type Findings } from '#desk/doctor/finding.ts';
import type { Finding } from '#desk/endpoints/figures.ts';
import { counted } from '#desk/printable.ts';
import { describeHost } from '#server/platform/database-url.ts';
import { shellWord } from '#server/platform/text.ts';
import { describeLostDatabase, explainDatabaseFailure } from '#server/startup/why-the-start-failed.ts';

const { ok, note, warning, problem } = about('database');
const clock = about('clock');

/** Reading takes about a second. */
const CHECKED_BYTES = 500_000_000;

export type DatabaseExamination = {
  readonly findings: readonly Finding[];
  /** Null if the database is missing or unreadable. */
  readonly state: DatabaseState | null;
};

export async function examineDatabase(database: Config['database']): Promise<DatabaseExamination> {
  if (database.engine === 'sqlite' && database.file === ':memory:')
    return withoutState(
      warning(
        'The database is only in memory, so all data is lost when the server stops. Name a file in DATABASE_URL, such as file:./data/leads.db.',
      ),
    );
  const name = database.engine === 'sqlite' ? database.file : `PostgreSQL at ${describeHost(database.url)}`;
  let state: DatabaseState;
  try {
    if (database.engine === 'sqlite' && statSync(database.file, { throwIfNoEntry: false }) === undefined) {
      const lost = describeLostDatabase(database.file);
      const notYet = note(`There is no database at ${database.file} yet. The first start will create it.`);
      return withoutState(lost === null ? notYet : problem(lost));
    }
    state = await readDatabaseState(database);
  } catch (error) {
    return withoutState(
      problem(explainDatabaseFailure(error, database) ?? `The database cannot be read: ${reasonOf(error)}`),
    );
  }
  const findings: Finding[] = [];
  if (state.unknown.length > 0)
    findings.push(
      problem(
        `The database was used by ${state.pending.length > 0 ? 'another' : 'a newer'} version of this software. Start that version, or name another database in DATABASE_URL.`,
      ),
    );
  else if (state.pending.length > 0)
    findings.push(note('The tables are from an older version. The next start will update them.'));
  if (state.isReadOnly)
    findings.push(
      problem(
        database.engine === 'sqlite'
          ? `${name} or its folder is read-only for this user. Grant write permission to the user who runs the site.`
          : `${name} is read-only. Name the primary server in DATABASE_URL.`,
      ),
    );
  if (findings.length === 0) findings.push(ok(`${name} responds and has all tables.`));
  return { findings, state };
}

const withoutState = (finding: Finding): DatabaseExamination => ({ findings: [finding], state: null });

/** Blocks the process while it reads, so nothing else should be waiting. */
export async function examineDamage(file: string): Promise<Findings> {
  const command = `sqlite3 ${shellWord(file)} 'pragma quick_check'`;
  if (statSync(file).size > CHECKED_BYTES)
    return note(`${file} was not checked for damage, because it is large. Check it with: ${command}`);
  const damage = findDamage(file);
  return damage.length === 0
    ? ok(`${file} is undamaged.`)
    : problem(
        `${file} is damaged (${damage.join('; ')}). Stop the site, keep the file, and restore the newest backup.`,
      );
}

export function examineClock(state: DatabaseState | null, now: number): Finding {
  const { newestAt = null, clockAheadMs = null } = state ?? {};
  const statement = `The clock of this machine says ${isoTime(now)}`;
  if (newestAt !== null && newestAt > now + CLOCKS_DIFFER_MS)
    return clock.problem(
      `${statement}, but the newest row is from ${isoTime(newestAt)}. The clock is wrong now or was wrong then, so codes may be refused or stay valid for too long. Set the clock: timedatectl set-ntp true`,
    );
  if (clockAheadMs !== null && Math.abs(clockAheadMs) > CLOCKS_DIFFER_MS)
    return clock.problem(
      `The clock of the database is ${Math.round(Math.abs(clockAheadMs) / 1000)} seconds ${clockAheadMs > 0 ? 'ahead of' : 'behind'} this machine's. Set both clocks: timedatectl set-ntp true`,
    );
  return newestAt === null && clockAheadMs === null
    ? clock.note(`${statement}. There was nothing to compare it with.`)
    : clock.ok(`${statement}, which agrees with the database.`);
}

export function judgeWebhooks({ webhooks }: Pick<Config, 'webhooks'>, state: DatabaseState | null): Findings {
  const dead = state?.deadEvents ?? 0;
  if (dead > 0)
    return about('webhooks').warning(
      `${counted(dead, 'webhook event was', 'webhook events were')} given up after a day of attempts. List the reasons (npm run -s desk -- webhooks list), fix the receivers, and retry the events (webhooks retry --all).`,
    );
  return webhooks.urls.length === 0 || state === null
    ? []
    : [about('webhooks').ok('No webhook event was given up.')];
}

export const judgeRefusals = (state: DatabaseState | null): Findings =>
  state?.refusesEverybody
    ? about('mail account').problem(
        'The mail server refused all mail in the last hour. Read its replies (npm run -s desk -- lost), and check SMTP_URL, MAIL_FROM and your account with the provider.',
      )
    : [];
