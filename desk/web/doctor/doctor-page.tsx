import { useMutation, useQueryClient } from '@tanstack/react-query';

import { doctor, type Finding } from '#desk/endpoints/figures.ts';
import { ask } from '#desk/web/ask.ts';
import { findingGroups } from '#desk/web/doctor/finding-groups.ts';
import styles from '#desk/web/doctor/doctor-page.module.css';
import { keyOf, useAsk } from '#desk/web/queries.ts';
import { sentenceCase } from '#desk/web/sentence-case.ts';
import { Button } from '#desk/web/ui/button.tsx';
import { CopyButton } from '#desk/web/ui/copy-button.tsx';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { FailedState } from '#desk/web/ui/failed-state.tsx';
import { Page, Section } from '#desk/web/ui/page.tsx';
import { Pill } from '#desk/web/ui/pill.tsx';
import { Skeleton } from '#desk/web/ui/skeleton.tsx';
import { doctor as words } from '#desk/web/words.ts';

export function DoctorPage() {
  const { data, error, refetch } = useAsk(doctor, {});
  const { isPending: isLooking, error: failure, mutate: lookAgain } = useLookAgain();
  const isFirst = data === undefined && error === null;
  return (
    <Page
      title={words.title}
      lead={
        data !== undefined && (
          <>
            {words.summary(data.findings)} {words.looked} <DateTime at={data.lookedAt} />
          </>
        )
      }
      actions={
        <Button
          aria-busy={isLooking || isFirst || undefined}
          onClick={() => !isFirst && !isLooking && lookAgain()}
        >
          {words.again}
        </Button>
      }
    >
      {(isLooking || isFirst) && (
        <p className={styles.looking} role="status">
          {words.looking}
        </p>
      )}
      {error !== null && data === undefined && <FailedState error={error} onRetry={() => void refetch()} />}
      {failure !== null && <FailedState error={failure} onRetry={() => lookAgain()} />}
      {isFirst && <Skeleton lines={10} />}
      {data !== undefined && (
        <div className={styles.groups} aria-busy={isLooking || undefined}>
          {findingGroups(data.findings).map(({ state, findings }) => (
            <Section key={state} title={words.headings[state]}>
              {state === 'ok' ? (
                <details className={styles.fine}>
                  <summary>{words.fine(findings.length)}</summary>
                  <Findings findings={findings} />
                </details>
              ) : (
                <Findings findings={findings} />
              )}
            </Section>
          ))}
        </div>
      )}
    </Page>
  );
}

function useLookAgain() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => ask(doctor, { again: 'yes' }),
    onSuccess: (found) => client.setQueryData(keyOf(doctor, {}), found),
  });
}

const TONES = { problem: 'problem', warning: 'warning', note: 'plain', ok: 'good' } as const;

const Findings = ({ findings }: { readonly findings: readonly Finding[] }) => (
  <ul className={styles.findings}>
    {findings.map((finding, index) => (
      <Found key={`${finding.check} ${index}`} finding={finding} />
    ))}
  </ul>
);

function Found({ finding: { check, state, sentence, publish } }: { readonly finding: Finding }) {
  return (
    <li className={styles.finding} data-state={state}>
      <div className={styles.check}>
        <Pill tone={TONES[state]}>{words.states[state]}</Pill>
        <h3>{sentenceCase(check)}</h3>
      </div>
      <div className={styles.said}>
        <p>{sentence}</p>
        {publish && (
          <div className={styles.record}>
            <p>{words.publish}</p>
            <dl>
              {(['name', 'type', 'value'] as const).map((part) => (
                <div key={part}>
                  <dt>{words.record[part]}</dt>
                  <dd>
                    <code>{publish[part]}</code>
                    {part !== 'type' && (
                      <CopyButton text={publish[part]} name={words.copyName(words.record[part], check)} />
                    )}
                  </dd>
                </div>
              ))}
            </dl>
          </div>
        )}
      </div>
    </li>
  );
}
