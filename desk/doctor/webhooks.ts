import type { Look } from '#server/db/backup/look-at-database.ts';
import type { Config } from '#server/settings/settings.ts';
import { about, type Finding } from '#desk/doctor/finding.ts';

const { ok, warning } = about('webhooks');

/** @param look null if the database is missing or unreadable */
export function judgeWebhooks({ webhooks }: Pick<Config, 'webhooks'>, look: Look | null): readonly Finding[] {
  const dead = look?.deadEvents ?? 0;
  if (dead > 0)
    return [
      warning(
        `${dead === 1 ? '1 event was' : `${dead} events were`} given up after a day of attempts. See why (npm run -s desk -- webhooks list), fix it there, and retry them (webhooks retry --all).`,
      ),
    ];
  return webhooks.urls.length === 0 || look === null ? [] : [ok('No event was given up.')];
}
