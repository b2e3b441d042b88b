// Asks the running site for its health: only that process notices a deleted database file or stuck mail.
import type { Config } from '#server/settings/settings.ts';
import { about, type Finding } from '#desk/doctor/finding.ts';
import { askHealth } from '#server/startup/why-the-start-failed.ts';

const { ok, note, problem } = about('page');

const ANSWER_WITHIN_MS = 5_000;

export async function examinePage(
  { host, port }: Pick<Config, 'host' | 'port'>,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  if (port === 0) return [note('The page takes any free port (PORT=0), so that it was not asked.')];
  const limit = AbortSignal.timeout(ANSWER_WITHIN_MS);
  try {
    const answer = await askHealth({ host, port }, AbortSignal.any([signal, limit]));
    if (answer === null) return [problem(`Port ${port} is taken by another program.`)];
    return [
      answer.isWell
        ? ok(`The page runs on port ${port}, and says that all is well.`)
        : problem(`The page runs on port ${port}, and says: ${answer.sentence}`),
    ];
  } catch {
    return [
      limit.aborted
        ? problem(`What listens on port ${port} did not answer within ${ANSWER_WITHIN_MS / 1000} seconds.`)
        : note(`The page does not run on port ${port} of this machine.`),
    ];
  }
}
