import type * as calls from '#desk/endpoints/figures.ts';
import type { Handler } from '#desk/server/handler.ts';
import { changeAndNote } from '#desk/audit-log/audit-log.ts';
import { shownEvents, tryAgain } from '#desk/webhooks/events.ts';
import { counted } from '#desk/printable.ts';

export const webhooks: Handler<typeof calls.webhooks> = async ({ service }) => {
  const { events, ...counts } = await shownEvents(service);
  return {
    ...counts,
    events: events.map(({ id, type, state, attempts, created_at, due_at, to, answer }) => ({
      id,
      type,
      state: state === 'dead' ? 'dead' : 'queued',
      attempts,
      madeAt: created_at,
      nextTryAt: due_at,
      to,
      answer,
    })),
  };
};

export const retryWebhooks: Handler<typeof calls.retryWebhooks> = ({ service, actor }, { ids }) =>
  changeAndNote(service, actor, async (tx, note) => {
    const revived = ids?.length === 0 ? 0 : await tryAgain(tx, service, ids);
    if (revived > 0) await note('retried-webhooks', null, counted(revived, 'event'));
    return { revived };
  });
