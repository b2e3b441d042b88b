import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

import { CLOCKS_DIFFER_MS, isoTime } from '#server/platform/time.ts';
import type { Config } from '#server/settings/settings.ts';
import type { Look } from '#server/db/health.ts';
import { about, type Finding, type Findings } from '#desk/doctor/finding.ts';
import type { DatabaseReport } from '#desk/doctor/database-process.ts';
import { sayHost } from '#server/platform/database-url.ts';

const { ok, note, warning, problem } = about('database');
const clock = about('clock');

/** Enough to read a gigabyte. */
const LOOK_WITHIN_MS = 15_000;
const LOOKER = path.resolve(import.meta.dirname, 'database-process.ts');

export type DatabaseView = {
  readonly findings: readonly Finding[];
  /** Null if the database is missing or unreadable. */
  readonly look: Look | null;
};

export async function viewDatabase(database: Config['database'], signal: AbortSignal): Promise<DatabaseView> {
  if (database.engine === 'sqlite') {
    if (database.file === ':memory:')
      return alone(warning('The database is kept in memory: everything is gone when the server ends.'));
    if (!existsSync(database.file))
      return alone(
        existsSync(path.join(path.dirname(database.file), 'app-secret'))
          ? problem(
              `There is no database at ${database.file}, although its secret exists. Do not restart a running page: see "What do I do when something breaks?" in docs/running.md.`,
            )
          : note(`There is no database at ${database.file} yet: the first start creates it.`),
      );
  }
  const { look, damage, failure } = await see(database, signal);
  if (failure !== null) return alone(problem(failure));
  const where = database.engine === 'sqlite' ? database.file : `PostgreSQL at ${sayHost(database.url)}`;
  if (look === null)
    return alone(problem(`${where} did not answer within ${LOOK_WITHIN_MS / 1000} seconds.`));
  const findings: Finding[] = [];
  if (look.unknown.length > 0)
    findings.push(
      problem(
        'The database was used by a newer version of this page. Start that version, or name another database in DATABASE_URL.',
      ),
    );
  if (look.writeFault !== null)
    findings.push(problem(sayWriteFault(database.engine, where, look.writeFault)));
  if (damage !== null && damage.length > 0)
    findings.push(
      problem(
        `${where} is damaged (${damage.join('; ')}). Stop the page, keep the file, and put back the newest backup.`,
      ),
    );
  if (damage === null && database.engine === 'sqlite')
    findings.push(
      warning(
        `${where} can be read; whether all of it is whole takes longer than ${LOOK_WITHIN_MS / 1000} seconds to see. Look with: sqlite3 ${where} 'pragma quick_check'`,
      ),
    );
  if (look.pending.length > 0)
    findings.push(note('The tables are those of an older version; the next start brings them up to date.'));
  if (findings.length === 0)
    findings.push(
      ok(
        database.engine === 'sqlite'
          ? `${where} can be read, is whole, and has all tables.`
          : `${where} answers, takes writes, and has all tables.`,
      ),
    );
  return { findings, look };
}

/** @param where name of the database in the sentence */
function sayWriteFault(
  engine: Config['database']['engine'],
  where: string,
  fault: NonNullable<Look['writeFault']>,
): string {
  if (engine === 'sqlite')
    return fault === 'denied'
      ? `This user may not write to ${where} or its folder. Give the user who runs the page the right to.`
      : `${where} or its folder may only be read. Look whether the file system has turned read-only after an error (dmesg), or the file was made immutable (lsattr).`;
  if (fault === 'denied')
    return `This user may not write to the tables of ${where}. Make the user the owner of the database.`;
  if (fault === 'read-only') return `${where} is read-only. Name the primary server in DATABASE_URL.`;
  if (fault === 'full') return `${where} has no room on its disk, and forms are refused. Make some.`;
  return `${where} took no writes when it was tried (${fault}). Look at its log, and at pg_stat_activity.`;
}

const alone = (finding: Finding): DatabaseView => ({ findings: [finding], look: null });

async function see(
  database: Config['database'],
  signal: AbortSignal,
): Promise<{ look: Look | null; damage: readonly string[] | null; failure: string | null }> {
  const seen: { look: Look | null; damage: readonly string[] | null; failure: string | null } = {
    look: null,
    damage: null,
    failure: null,
  };
  // SIGKILL is safe because every write is rolled back, and works while SQLite reads.
  const looker = fork(LOOKER, {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    signal,
    timeout: LOOK_WITHIN_MS,
    killSignal: 'SIGKILL',
  });
  looker.on('message', (report: DatabaseReport) => {
    if (report.type === 'look') seen.look = report.look;
    else if (report.type === 'damage') seen.damage = report.damage;
    else seen.failure = report.sentence;
  });
  return new Promise((resolve) => {
    looker.on('error', (error) => {
      if (!signal.aborted) seen.failure ??= `The database could not be looked at: ${error.message}`;
      resolve(seen);
    });
    looker.once('close', () => resolve(seen));
    looker.send(database);
  });
}

export function examineClock(look: Look | null, now: number): Findings {
  if (look === null)
    return clock.note(`This machine says that it is ${isoTime(now)}. There was nothing to compare it with.`);
  const { newestAt, clockAheadMs } = look;
  const findings: Finding[] = [];
  if (newestAt !== null && newestAt > now + CLOCKS_DIFFER_MS)
    findings.push(
      clock.problem(
        `This machine says that it is ${isoTime(now)}, and the newest row was made at ${isoTime(newestAt)}: the clock is wrong now or was then. Codes would be refused or stay valid for too long. Set the clock (timedatectl set-ntp true).`,
      ),
    );
  if (clockAheadMs !== null && Math.abs(clockAheadMs) > CLOCKS_DIFFER_MS)
    findings.push(
      clock.problem(
        `The clock of the database is ${Math.round(Math.abs(clockAheadMs) / 1000)} seconds ${clockAheadMs > 0 ? 'ahead of' : 'behind'} this machine's. Set both (timedatectl set-ntp true).`,
      ),
    );
  if (findings.length > 0) return findings;
  return [
    clockAheadMs !== null
      ? clock.ok(
          `This machine and the database agree about the time, within ${CLOCKS_DIFFER_MS / 1000} seconds.`,
        )
      : newestAt !== null
        ? clock.ok(
            `This machine says that it is ${isoTime(now)}, after the newest row. Nothing else was asked for the time.`,
          )
        : clock.note(`This machine says that it is ${isoTime(now)}. There was nothing to compare it with.`),
  ];
}

export function judgeWebhooks({ webhooks }: Pick<Config, 'webhooks'>, look: Look | null): Findings {
  const dead = look?.deadEvents ?? 0;
  if (dead > 0)
    return about('webhooks').warning(
      `${dead === 1 ? '1 event was' : `${dead} events were`} given up after a day of attempts. See why (npm run -s desk -- webhooks list), fix it there, and retry them (webhooks retry --all).`,
    );
  return webhooks.urls.length === 0 || look === null ? [] : [about('webhooks').ok('No event was given up.')];
}

export const judgeRefusals = (look: Look | null): Findings =>
  look?.refusesEverybody
    ? about('mail account').problem(
        'The mail server refused everybody within the last hour, and took no mail. Read its words (npm run -s desk -- lost), and check SMTP_URL, MAIL_FROM and the account with the provider.',
      )
    : [];
