import type * as calls from '#desk/endpoints/auth.ts';
import type { Answer, Asked } from '#desk/endpoints/endpoint.ts';
import type { OpenSession, Sessions } from '#desk/server/auth/sessions.ts';
import type { DeskContext } from '#desk/server/handler.ts';
import { hasNews } from '#desk/people/selection.ts';
import { logEntryOf } from '#desk/audit-log/audit-log.ts';
import { deskLogPage } from '#server/db/tables/desk-log.ts';
import { isoTime } from '#server/platform/time.ts';

export type AuthContext = DeskContext & {
  readonly session: OpenSession;
  readonly sessions: Sessions;
};

type AuthHandler<Of> = (context: AuthContext, asked: Asked<Of>) => Promise<Answer<Of> | null>;

const LOG_PAGE = 100;

export const me: AuthHandler<typeof calls.me> = async ({ service, person, session }) => ({
  ...person,
  title: service.campaign.site.title,
  publicUrl: service.config.publicUrl,
  sessionEndsAt: isoTime(session.endsAt),
  fields: service.campaign.form.fields.map(({ id, label, kind, options }) => ({
    id,
    label,
    options: options ?? null,
    areSeveral: kind === 'choices',
  })),
  variants: service.campaign.variants.map(({ name }) => name),
  hasNews: await hasNews(service),
  hasWebhooks: service.webhooks.endpoints.length > 0,
  timeZone: service.config.timeZone,
});

export const sessions: AuthHandler<typeof calls.sessions> = async ({
  service,
  person,
  session,
  sessions: all,
}) => ({
  sessions: (await all.of(person.email, service.clock())).map(({ id, begunAt, endsAt, from, browser }) => ({
    id,
    isThis: id === session.id,
    begunAt: isoTime(begunAt),
    endsAt: isoTime(endsAt),
    from,
    browser,
  })),
});

export const endSession: AuthHandler<typeof calls.endSession> = async (
  { person, sessions: all, noteDone },
  { id },
) => {
  if (!(await all.end({ id, email: person.email }))) return null;
  await noteDone('signed-out', null);
  return {};
};

export const log: AuthHandler<typeof calls.log> = async ({ service }, { after = null }) => {
  const rows = await deskLogPage(service.database.db, { order: 'newest', after, limit: LOG_PAGE + 1 });
  const entries = rows.slice(0, LOG_PAGE).map(logEntryOf);
  return { entries, next: rows.length > LOG_PAGE ? (entries.at(-1)?.id ?? null) : null };
};
