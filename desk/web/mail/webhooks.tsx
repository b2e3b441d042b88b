import { retryWebhooks, today, webhooks } from '#desk/endpoints/figures.ts';
import { log } from '#desk/endpoints/auth.ts';
import type { OutputOf } from '#desk/endpoints/endpoint.ts';
import styles from '#desk/web/mail/mail-page.module.css';
import { useMayChange, useDeskUser, useDeskQuery, useDeskMutation } from '#desk/web/queries.ts';
import { QueryResult } from '#desk/web/ui/states.tsx';
import { Button } from '#desk/web/ui/button.tsx';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { useNotice } from '#desk/web/ui/notice.tsx';
import { Section } from '#desk/web/ui/page.tsx';
import { Pill } from '#desk/web/ui/pill.tsx';
import { Table, type Column } from '#desk/web/ui/table.tsx';
import { NONE, counted, number } from '#desk/web/format.ts';

type Event = OutputOf<typeof webhooks>['events'][number];

export function Webhooks() {
  const { hasWebhooks } = useDeskUser();
  return hasWebhooks ? (
    <Events />
  ) : (
    <Section title="Webhooks">
      <p className="quiet">
        No webhooks are set up. Set WEBHOOK_URLS to send each lead to other programs immediately.
      </p>
    </Section>
  );
}

function Events() {
  const result = useDeskQuery(webhooks, {}, { refetchOnWindowFocus: true });
  const mayChange = useMayChange();
  const { showNotice } = useNotice();
  const { mutate, isPending } = useDeskMutation(retryWebhooks, [webhooks, today, log]);
  const retry = (ids: readonly string[] | null) =>
    mutate(
      { ids: ids === null ? null : [...ids] },
      {
        onSuccess: ({ revived }) =>
          showNotice(
            revived === 0
              ? 'Nothing was sent again: these events are no longer given up, or their URLs are no longer in WEBHOOK_URLS.'
              : `${counted(revived, 'event is', 'events are')} being sent again.`,
          ),
        onError: ({ message }) => showNotice(message, 'problem'),
      },
    );
  const dead = result.data?.dead ?? 0;
  return (
    <Section
      title="Webhooks"
      lead={
        result.data &&
        `${counted(result.data.queued, 'event is queued', 'events are queued')}, ${counted(dead, 'was given up', 'were given up')}.`
      }
      actions={
        mayChange &&
        dead > 0 && (
          <Button isBusy={isPending} onClick={() => retry(null)}>
            Send all again
          </Button>
        )
      }
    >
      <QueryResult of={result}>
        {({ events }) => (
          <Table
            caption="Webhook events"
            columns={columnsFor(mayChange && dead > 0 ? (id) => !isPending && retry([id]) : null)}
            rows={events}
            rowKey={({ id }) => id}
            empty="All events have been delivered."
          />
        )}
      </QueryResult>
    </Section>
  );
}

const columnsFor = (retry: ((id: string) => void) | null): readonly Column<Event>[] => [
  { heading: 'Event', isMain: true, cell: ({ type }) => type },
  { heading: 'Made', cell: ({ created_at: at }) => <DateTime at={at} isShort /> },
  { heading: 'To', cell: ({ to }) => to },
  {
    heading: 'State',
    cell: ({ id, type, state, due_at: nextAt }) => (
      <>
        <Pill tone={state === 'dead' ? 'problem' : 'plain'}>{state === 'dead' ? 'Given up' : 'Waits'}</Pill>
        {state === 'dead' && retry !== null && (
          <Button
            look="text"
            className={styles.again}
            aria-label={`Send again: ${type}`}
            onClick={() => retry(id)}
          >
            Send again
          </Button>
        )}
        {nextAt !== null && (
          <small>
            Next attempt <DateTime at={nextAt} isShort />
          </small>
        )}
      </>
    ),
  },
  { heading: 'Attempts', isNumber: true, cell: ({ attempts }) => number(attempts) },
  { heading: 'Last response', isLong: true, cell: ({ response }) => response ?? NONE },
];
