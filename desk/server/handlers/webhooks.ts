import type * as calls from '#desk/endpoints/figures.ts';
import type { Handler } from '#desk/server/handler.ts';
import { changeAndNote } from '#desk/audit-log/audit-log.ts';
import { shownEvents, tryAgain } from '#desk/webhooks/events.ts';
import { counted } from '#desk/printable.ts';

export const webhooks: Handler<typeof calls.webhooks> = ({ service }) => shownEvents(service);

export const retryWebhooks: Handler<typeof calls.retryWebhooks> = ({ service, actor }, { ids }) =>
  changeAndNote(service, actor, async (tx, note) => {
    const revived = ids?.length === 0 ? 0 : await tryAgain(tx, service, ids);
    if (revived > 0) await note('retried-webhooks', null, counted(revived, 'event'));
    return { revived };
  });
