import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';

import type { Me } from '#desk/endpoints/auth.ts';
import { choices, leadCount, type Filter } from '#desk/endpoints/people.ts';
import { isSignedOut } from '#desk/web/ask.ts';
import { saveExport, type Progress } from '#desk/web/leads/save-export.ts';
import { usePerson, forgetPerson, useAsk } from '#desk/web/queries.ts';
import { Answered } from '#desk/web/ui/states.tsx';
import { Button } from '#desk/web/ui/button.tsx';
import {
  counted,
  dayName,
  PEOPLE_IN_STATE,
  number,
  people as countPeople,
  sentenceCase,
} from '#desk/web/format.ts';
import { Dialog, DialogActions, DialogForm } from '#desk/web/ui/dialog.tsx';
import { useNotice } from '#desk/web/ui/notice.tsx';
import styles from '#desk/web/leads/leads.module.css';

type ExportProps = {
  readonly filter: Filter;
  /** Number of people that match the filter; null if the list has not been read to its end. */
  readonly people: number | null;
  /** The chosen format is kept while closed. */
  readonly open: boolean;
  readonly onClose: () => void;
};

export function ExportDialog({ filter, people: found, open, onClose }: ExportProps) {
  const { fields } = usePerson();
  const answer = useAsk(choices, {}, { enabled: open });
  const { state, from, to } = filter;
  const { data: count } = useAsk(
    leadCount,
    { from, to },
    { enabled: open && found === null && state === 'verified' },
  );
  const [format, setFormat] = useState('csv');
  const running = useRef<AbortController>(null);
  const [progress, setProgress] = useState<Progress | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const { say } = useNotice();
  const client = useQueryClient();

  const stop = () => {
    running.current?.abort();
    running.current = null;
    setProgress(null);
  };
  const close = () => {
    stop();
    setError(null);
    onClose();
  };
  const start = (shown: string) => {
    const run = new AbortController();
    running.current = run;
    setError(null);
    setProgress({ people: 0, atMost: null });
    void save(shown, run);
  };
  const save = async (shown: string, run: AbortController) => {
    try {
      const people = await saveExport(shown, filter, run.signal, setProgress);
      if (running.current !== run) return;
      close();
      say(`${countPeople(people)} exported. The file is in your downloads.`);
    } catch (failed) {
      if (run.signal.aborted) return;
      stop();
      // Not a query, so the client does not handle the failure.
      if (isSignedOut(failed)) forgetPerson(client);
      setError(failed instanceof Error ? failed : new Error(String(failed)));
    }
  };

  if (!open) return null;
  return (
    <Dialog
      onClose={close}
      title="Export"
      text={`The file contains only people who match the filter: ${filterInWords(filter, fields)}.`}
    >
      <Answered of={answer} lines={2}>
        {({ formats }) => {
          const fitting = formats.filter(
            ({ takesEveryState }) => takesEveryState || filter.state === 'verified',
          );
          const chosen = fitting.find(({ name }) => name === format) ?? fitting[0];
          return progress === null ? (
            <DialogForm
              action={['Export', amountOf(state, found, count?.atMost)].filter(Boolean).join(' ')}
              change={{ isPending: false, error }}
              onSubmit={() => chosen && start(chosen.name)}
            >
              <fieldset className={styles.formats}>
                <legend>Format</legend>
                {fitting.map(({ name, title, about }) => (
                  <label key={name} className={styles.choice}>
                    <input
                      type="radio"
                      name="format"
                      checked={name === chosen?.name}
                      onChange={() => setFormat(name)}
                    />
                    <span>
                      {title}
                      <small>{sentenceCase(about)}</small>
                    </span>
                  </label>
                ))}
              </fieldset>
              {fitting.length < formats.length && (
                <p className="quiet small">
                  Formats for other programs only take verified leads, so they are not available for this
                  list.
                </p>
              )}
            </DialogForm>
          ) : (
            <div className="stack">
              <ProgressBar {...progress} />
              <DialogActions>
                <Button onClick={stop}>Stop the export</Button>
              </DialogActions>
            </div>
          );
        }}
      </Answered>
    </Dialog>
  );
}

function amountOf(
  state: Filter['state'],
  found: number | null,
  atMost: number | undefined,
): string | undefined {
  const noun = (count: number) => (state === 'verified' ? counted(count, 'lead') : countPeople(count));
  if (found !== null) return noun(found);
  return atMost === undefined ? undefined : `up to ${noun(atMost)}`;
}

function ProgressBar({ people, atMost }: Progress) {
  return (
    <div className={styles.progress}>
      <progress
        aria-label="People in the file so far"
        {...(atMost !== null && { max: atMost, value: Math.min(people, atMost) })}
      />
      <p>
        {atMost === null
          ? `${countPeople(people)} so far`
          : `${number(people)} of at most ${number(atMost)} people`}
      </p>
    </div>
  );
}

function filterInWords(filter: Filter, fields: Me['fields']): string {
  const { search, source, campaign, flag, news, field, answer, domain, from, to } = filter;
  const question = fields.find(({ id }) => id === field)?.label ?? field;
  const parts = [
    PEOPLE_IN_STATE[filter.state],
    search && `with “${search}” in address, name or company`,
    source && `source ${source}`,
    campaign && `campaign ${campaign}`,
    flag && `flag ${flag}`,
    news && 'agreed to get news',
    domain && `at ${domain}`,
    field && answer && `“${answer}” in the answer to “${question ?? field}”`,
    from && `from ${dayName(from)}`,
    to && `to ${dayName(to)}`,
  ];
  return parts.filter(Boolean).join(', ');
}
