import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';

import type { Me } from '#desk/endpoints/auth.ts';
import { choices, EXPORT_PATH, leadCount, type Filter } from '#desk/endpoints/people.ts';
import { urlOf } from '#desk/web/api-client.ts';
import { openFile } from '#desk/web/file.ts';
import { useDeskQuery, useDeskUser, useAbortSignal } from '#desk/web/queries.ts';
import { QueryResult } from '#desk/web/ui/states.tsx';
import {
  counted,
  dayAndYear,
  PEOPLE_IN_STATE,
  people as countPeople,
  sentenceCase,
} from '#desk/web/format.ts';
import { Dialog, DialogForm } from '#desk/web/ui/dialog.tsx';
import { useNotice } from '#desk/web/ui/notice.tsx';
import styles from '#desk/web/leads/leads.module.css';

type ExportProps = {
  readonly filter: Filter;
  /** Number of people that match the filter; null if the list has not been read to its end. */
  readonly people: number | null;
  /** Also stops a running export. */
  readonly onClose: () => void;
};

export function ExportDialog({ filter, people: found, onClose }: ExportProps) {
  const { fields } = useDeskUser();
  const result = useDeskQuery(choices, {});
  const { state, from, to } = filter;
  const { data: count } = useDeskQuery(
    leadCount,
    { from, to },
    { enabled: found === null && state === 'verified' },
  );
  const [format, setFormat] = useState('csv');
  const newSignal = useAbortSignal();
  const { showNotice } = useNotice();
  const save = useMutation({
    mutationFn: (chosen: string) =>
      openFile(urlOf(EXPORT_PATH, { format: chosen, ...filter }), `people-${chosen}`, 'save', newSignal()),
  });
  return (
    <Dialog
      onClose={onClose}
      title="Export"
      text={`The file contains only people who match the filter: ${describeFilter(filter, fields)}.`}
    >
      <QueryResult of={result} lines={2}>
        {({ formats }) => {
          const fitting = formats.filter(
            ({ takesEveryState }) => takesEveryState || filter.state === 'verified',
          );
          const chosen = fitting.find(({ name }) => name === format) ?? fitting[0];
          return (
            <DialogForm
              action={['Export', describeAmount(state, found, count?.atMost)].filter(Boolean).join(' ')}
              working="Exporting …"
              mutation={save}
              input={chosen?.name ?? format}
              onDone={() => {
                onClose();
                showNotice('The file is in your downloads.');
              }}
              canLeave
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
          );
        }}
      </QueryResult>
    </Dialog>
  );
}

function describeAmount(
  state: Filter['state'],
  found: number | null,
  atMost: number | undefined,
): string | undefined {
  const noun = (count: number) => (state === 'verified' ? counted(count, 'lead') : countPeople(count));
  if (found !== null) return noun(found);
  return atMost === undefined ? undefined : `up to ${noun(atMost)}`;
}

function describeFilter(filter: Filter, fields: Me['fields']): string {
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
    from && `from ${dayAndYear(from)}`,
    to && `to ${dayAndYear(to)}`,
  ];
  return parts.filter(Boolean).join(', ');
}
