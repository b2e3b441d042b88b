import { retryWebhooks, today, webhooks } from '#desk/endpoints/figures.ts';
import { log } from '#desk/endpoints/auth.ts';
import type { Answer } from '#desk/endpoints/endpoint.ts';
import styles from '#desk/web/mail/mail-page.module.css';
import { useMayChange, usePerson } from '#desk/web/person.ts';
import { useAsk, useSend } from '#desk/web/queries.ts';
import { Answered } from '#desk/web/ui/answered.tsx';
import { Button } from '#desk/web/ui/button.tsx';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { EmptyState } from '#desk/web/ui/empty-state.tsx';
import { useNotice } from '#desk/web/ui/notice.tsx';
import { Section } from '#desk/web/ui/page.tsx';
import { Pill } from '#desk/web/ui/pill.tsx';
import { Table, type Column } from '#desk/web/ui/table.tsx';
import { mail, number, parts } from '#desk/web/words.ts';

const words = mail.webhooks;
type Event = Answer<typeof webhooks>['events'][number];

export function Webhooks() {
  const { hasWebhooks } = usePerson();
  return hasWebhooks ? (
    <Events />
  ) : (
    <Section title={words.heading}>
      <EmptyState text={words.off} />
    </Section>
  );
}

function Events() {
  const asked = useAsk(webhooks, {}, { refetchOnWindowFocus: true });
  const mayChange = useMayChange();
  const { say } = useNotice();
  const { mutate, isPending } = useSend(retryWebhooks, [webhooks, today, log]);
  const retry = (ids: readonly string[] | null) =>
    mutate(
      { ids: ids === null ? null : [...ids] },
      {
        onSuccess: ({ revived }) => say(revived === 0 ? words.noneRevived : words.revived(revived)),
        onError: ({ message }) => say(message, 'problem'),
      },
    );
  const dead = asked.data?.dead ?? 0;
  return (
    <Section
      title={words.heading}
      lead={asked.data && words.counts(asked.data.queued, dead)}
      actions={
        mayChange &&
        dead > 0 && (
          <Button aria-busy={isPending || undefined} onClick={() => !isPending && retry(null)}>
            {words.retryAll}
          </Button>
        )
      }
    >
      <Answered of={asked}>
        {({ events }) =>
          events.length === 0 ? (
            <EmptyState text={words.none} />
          ) : (
            <Table
              caption={words.caption}
              columns={columnsOf(mayChange && dead > 0 ? (id) => !isPending && retry([id]) : null)}
              rows={events}
              rowKey={({ id }) => id}
            />
          )
        }
      </Answered>
    </Section>
  );
}

const columnsOf = (retry: ((id: string) => void) | null): readonly Column<Event>[] => [
  { id: 'type', heading: words.columns.type, isMain: true, cell: ({ type }) => type },
  { id: 'made', heading: words.columns.made, cell: ({ madeAt }) => <DateTime at={madeAt} isShort /> },
  { id: 'to', heading: words.columns.to, cell: ({ to }) => to },
  {
    id: 'state',
    heading: words.columns.state,
    cell: ({ id, type, state, nextTryAt }) => (
      <>
        <Pill tone={state === 'dead' ? 'problem' : 'plain'}>{words.states[state]}</Pill>
        {state === 'dead' && retry !== null && (
          <Button
            look="text"
            className={styles.again}
            aria-label={words.retryOf(type)}
            onClick={() => retry(id)}
          >
            {words.retry}
          </Button>
        )}
        {nextTryAt !== null && (
          <span className={styles.next}>
            {words.nextTry} <DateTime at={nextTryAt} isShort />
          </span>
        )}
      </>
    ),
  },
  { id: 'tries', heading: words.columns.tries, isNumber: true, cell: ({ attempts }) => number(attempts) },
  { id: 'answer', heading: words.columns.answer, isLong: true, cell: ({ answer }) => answer ?? parts.none },
];
