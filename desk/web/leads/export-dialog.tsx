import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';

import type { Me } from '#desk/endpoints/auth.ts';
import { choices, type Filter } from '#desk/endpoints/people.ts';
import { isSignedOut } from '#desk/web/ask.ts';
import { saveExport, type Progress } from '#desk/web/leads/save-export.ts';
import { usePerson } from '#desk/web/person.ts';
import { forgetPerson, useAsk } from '#desk/web/queries.ts';
import { Answered } from '#desk/web/ui/answered.tsx';
import { Button } from '#desk/web/ui/button.tsx';
import { dayName } from '#desk/web/ui/dates.ts';
import { Dialog, DialogActions, DialogForm } from '#desk/web/ui/dialog.tsx';
import { SelectField } from '#desk/web/ui/fields.tsx';
import { useNotice } from '#desk/web/ui/notice.tsx';
import { filter as filterWords, leads as words, states } from '#desk/web/words.ts';
import styles from '#desk/web/leads/leads.module.css';

type ExportProps = {
  readonly filter: Filter;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
};

export function ExportDialog({ filter, open, onOpenChange }: ExportProps) {
  const { fields } = usePerson();
  const answer = useAsk(choices, {}, { enabled: open });
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
    onOpenChange(false);
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
      say(words.exported(people));
    } catch (failed) {
      if (run.signal.aborted) return;
      stop();
      // Not a query, so the client does not handle the failure.
      if (isSignedOut(failed)) forgetPerson(client);
      setError(failed instanceof Error ? failed : new Error(String(failed)));
    }
  };

  return (
    <Dialog
      open={open}
      onOpenChange={(next) => (next ? onOpenChange(true) : close())}
      title={words.exportTitle}
      text={words.exportText(filterInWords(filter, fields))}
    >
      <Answered of={answer} lines={2}>
        {({ formats }) => {
          const fitting = formats.filter(
            ({ takesEveryState }) => takesEveryState || filter.state === 'verified',
          );
          const chosen = fitting.find(({ name }) => name === format) ?? fitting[0];
          return progress === null ? (
            <DialogForm
              action={words.exportStart}
              error={error}
              onSubmit={() => chosen && start(chosen.name)}
            >
              <SelectField
                label={words.format}
                options={fitting.map(({ name }) => ({ value: name, name }))}
                value={chosen?.name}
                onChange={(event) => setFormat(event.currentTarget.value)}
              />
              <p className={styles.about}>{chosen?.about}</p>
              {fitting.length < formats.length && <p className={styles.about}>{words.fewerFormats}</p>}
            </DialogForm>
          ) : (
            <div className={styles.exportForm}>
              <ProgressBar {...progress} />
              <DialogActions>
                <Button onClick={stop}>{words.exportStop}</Button>
              </DialogActions>
            </div>
          );
        }}
      </Answered>
    </Dialog>
  );
}

function ProgressBar({ people, atMost }: Progress) {
  const sentence = words.progress(people, atMost);
  return (
    <div className={styles.progress}>
      <progress
        aria-label={words.progressLabel}
        {...(atMost !== null && { max: atMost, value: Math.min(people, atMost) })}
      />
      <p>{sentence}</p>
    </div>
  );
}

function filterInWords(filter: Filter, fields: Me['fields']): string {
  const { search, source, flag, field, answer, domain, from, to } = filter;
  const question = fields.find(({ id }) => id === field)?.label ?? field;
  const parts = [
    states[filter.state].many,
    search && filterWords.searched(search),
    source && filterWords.ofSource(source),
    flag && filterWords.flagged(flag),
    domain && filterWords.atDomain(domain),
    field && answer && filterWords.answered(question ?? field, answer),
    from && filterWords.fromDay(dayName(from)),
    to && filterWords.toDay(dayName(to)),
  ];
  return parts.filter(Boolean).join(', ');
}
