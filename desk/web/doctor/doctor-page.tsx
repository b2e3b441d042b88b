import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { doctor, type Finding } from '#desk/endpoints/figures.ts';
import { callApi } from '#desk/web/api-client.ts';
import styles from '#desk/web/doctor/doctor-page.module.css';
import { keyOf, useDeskQuery } from '#desk/web/queries.ts';
import { sentenceCase, counted } from '#desk/web/format.ts';
import { Button } from '#desk/web/ui/button.tsx';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { QueryResult, FailedState } from '#desk/web/ui/states.tsx';
import { Page, Section } from '#desk/web/ui/page.tsx';
import { Pill } from '#desk/web/ui/pill.tsx';

export function DoctorPage() {
  const result = useDeskQuery(doctor, {});
  const { data, error } = result;
  const { isPending: isChecking, error: failure, mutate: checkAgain } = useCheckAgain();
  const isFirst = data === undefined && error === null;
  return (
    <Page
      title="Doctor"
      lead={
        data !== undefined && (
          <>
            {counted(countOf(data.findings, 'problem'), 'problem')},{' '}
            {counted(countOf(data.findings, 'warning'), 'warning')}. Last checked{' '}
            <DateTime at={data.checkedAt} />
          </>
        )
      }
      actions={
        <Button isBusy={isChecking || isFirst} onClick={() => checkAgain()}>
          Check again
        </Button>
      }
    >
      {(isChecking || isFirst) && (
        <p className="callout" role="status">
          Checking settings, database, mail account and DNS. This may take up to half a minute.
        </p>
      )}
      {failure !== null && <FailedState error={failure} onRetry={() => checkAgain()} />}
      <QueryResult of={result} lines={10}>
        {({ findings: all }) => (
          <div className={`stack ${styles.groups}`} aria-busy={isChecking || undefined}>
            {groupsOf(all).map(({ state, findings }) => (
              <Section key={state} title={STATES[state].heading}>
                {state === 'ok' ? (
                  <details className={styles.fine}>
                    <summary>{counted(findings.length, 'check')} found no problems</summary>
                    <Findings findings={findings} />
                  </details>
                ) : (
                  <Findings findings={findings} />
                )}
              </Section>
            ))}
          </div>
        )}
      </QueryResult>
    </Page>
  );
}

function useCheckAgain() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => callApi(doctor, { again: 'yes' }),
    onSuccess: (found) => client.setQueryData(keyOf(doctor, {}), found),
  });
}

const countOf = (findings: readonly Finding[], state: Finding['state']): number =>
  findings.filter((one) => one.state === state).length;

const groupsOf = (all: readonly Finding[]) =>
  (['problem', 'warning', 'note', 'ok'] as const)
    .map((state) => ({ state, findings: all.filter((finding) => finding.state === state) }))
    .filter(({ findings }) => findings.length > 0);

const STATES = {
  problem: { heading: 'Codes may not arrive or may not be safe', name: 'Problem', tone: 'problem' },
  warning: { heading: 'Works, but should be fixed', name: 'Warning', tone: 'warning' },
  note: { heading: 'Good to know', name: 'Note', tone: 'plain' },
  ok: { heading: 'OK', name: 'OK', tone: 'good' },
} as const;

const Findings = ({ findings }: { readonly findings: readonly Finding[] }) => (
  <ul className={styles.findings}>
    {findings.map((finding, index) => (
      <FindingItem key={`${finding.check} ${index}`} finding={finding} />
    ))}
  </ul>
);

function FindingItem({ finding: { check, state, sentence, publish } }: { readonly finding: Finding }) {
  return (
    <li className={styles.finding} data-state={state}>
      <div className={`row ${styles.check}`}>
        <Pill tone={STATES[state].tone}>{STATES[state].name}</Pill>
        <h3>{sentenceCase(check)}</h3>
      </div>
      <div className={`stack ${styles.said}`}>
        <p>{sentence}</p>
        {publish && (
          <div className={`panel ${styles.record}`}>
            <p className="quiet small">Publish this record in the DNS of your domain</p>
            <dl>
              {(['name', 'type', 'value'] as const).map((part) => (
                <div key={part}>
                  <dt className="small">{sentenceCase(part)}</dt>
                  <dd>
                    <code>{publish[part]}</code>
                    {part !== 'type' && (
                      <CopyButton text={publish[part]} name={`${sentenceCase(part)} for ${check}`} />
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

const COPY = { ready: 'Copy', copied: 'Copied', failed: 'Press Ctrl+C' } as const;

function CopyButton({ text, name }: { readonly text: string; readonly name: string }) {
  const [state, setState] = useState<keyof typeof COPY>('ready');
  const copy = async () => {
    // On plain http, browsers don't offer the clipboard.
    if (!navigator.clipboard) throw new Error('no clipboard');
    await navigator.clipboard.writeText(text);
  };
  return (
    <>
      <Button
        className={styles.copy}
        aria-label={`Copy ${name}`}
        onClick={({ currentTarget: { previousElementSibling: code } }) =>
          void copy().then(
            () => setState('copied'),
            () => {
              if (code !== null) getSelection()?.selectAllChildren(code);
              setState('failed');
            },
          )
        }
      >
        {COPY[state]}
      </Button>
      <span className="unseen" role="status">
        {state !== 'ready' && COPY[state]}
      </span>
    </>
  );
}
