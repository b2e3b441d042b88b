import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';

import { log } from '#desk/endpoints/auth.ts';
import { report, reportReaders, sendReport, type ReportQuery } from '#desk/endpoints/figures.ts';
import { choices } from '#desk/endpoints/people.ts';
import {
  useOpenFile,
  useDeskQuery,
  useMayChange,
  useDeskUser,
  useDeskMutation,
  useTimeZone,
} from '#desk/web/queries.ts';
import {
  offeredPeriods,
  readReportChoice,
  reportFileUrl,
  reportUrl,
} from '#desk/web/report/report-choice.ts';
import '#desk/web/report/report.css';
import styles from '#desk/web/report/report-page.module.css';
import { navigate, useLocation } from '#desk/web/router.tsx';
import { Button } from '#desk/web/ui/button.tsx';
import { QueryResult } from '#desk/web/ui/states.tsx';
import { Dialog, DialogForm } from '#desk/web/ui/dialog.tsx';
import { optionsOf, SelectField } from '#desk/web/ui/fields.tsx';
import { MailIcon } from '#desk/web/ui/icons.tsx';
import { useNotice } from '#desk/web/ui/notice.tsx';
import { Page } from '#desk/web/ui/page.tsx';
import { DownloadIcon } from '#web/ui/icons.tsx';

export function ReportPage() {
  const { query } = useLocation();
  const choice = readReportChoice(query);
  const shown = useDeskQuery(report, choice, { placeholderData: keepPreviousData });
  const { data, isFetching, isPlaceholderData } = shown;
  const file = useOpenFile(reportFileUrl(choice), 'report.html', 'save');
  const mayChange = useMayChange();
  const [isSending, setSending] = useState(false);
  const isCounting = isFetching && (data === undefined || isPlaceholderData);
  return (
    <Page
      title="Report"
      lead={data?.title}
      actions={
        <>
          {mayChange && (
            <Button onClick={() => setSending(true)}>
              <MailIcon size={16} />
              Send
            </Button>
          )}
          <Button isBusy={file.isPending} onClick={() => file.mutate()}>
            <DownloadIcon size={16} />
            Download
          </Button>
        </>
      }
    >
      <Choice choice={choice} campaigns={data?.campaigns ?? []} />
      {isCounting && (
        <p className="callout" role="status">
          Counting … With a million leads, this takes several seconds.
        </p>
      )}
      <QueryResult of={shown} lines={12}>
        {({ html }) => (
          <div
            className="report"
            aria-busy={isCounting || undefined}
            dangerouslySetInnerHTML={{ __html: html }}
          />
        )}
      </QueryResult>
      {isSending && <SendReport choice={choice} onClose={() => setSending(false)} />}
    </Page>
  );
}

function Choice({
  choice,
  campaigns,
}: {
  readonly choice: ReportQuery;
  readonly campaigns: readonly string[];
}) {
  const { variants } = useDeskUser();
  const timeZone = useTimeZone();
  const { data } = useDeskQuery(choices, {});
  const [now] = useState(() => Date.now());
  const move = (changed: Partial<ReportQuery>) =>
    navigate(reportUrl({ ...choice, ...changed }), { replace: true });
  return (
    <div className={styles.choice}>
      <SelectField
        label="Period"
        value={choice.period}
        options={offeredPeriods(now, timeZone, choice.period)}
        onChange={({ target }) => move({ period: target.value })}
      />
      <SelectField
        label="Source"
        value={choice.source ?? ''}
        options={optionsOf('All sources', data?.sources, choice.source)}
        onChange={({ target }) => move({ source: target.value })}
      />
      <SelectField
        label="Campaign"
        value={choice.campaign ?? ''}
        options={optionsOf('All campaigns', campaigns, choice.campaign)}
        onChange={({ target }) => move({ campaign: target.value })}
      />
      {(variants.length > 1 || choice.variant !== undefined) && (
        <SelectField
          label="Variant"
          value={choice.variant ?? ''}
          options={optionsOf('All variants', variants, choice.variant)}
          onChange={({ target }) => move({ variant: target.value })}
        />
      )}
    </div>
  );
}

function SendReport({ choice, onClose }: { readonly choice: ReportQuery; readonly onClose: () => void }) {
  const readers = useDeskQuery(reportReaders, {});
  const [chosen, setChosen] = useState<string | null>(null);
  const send = useDeskMutation(sendReport, [log]);
  const { showNotice } = useNotice();
  return (
    <Dialog
      onClose={() => !send.isPending && onClose()}
      title="Send this report"
      text="The e-mail contains the key figures, and the report as a file. It names no individuals."
    >
      <QueryResult of={readers} lines={2}>
        {({ emails }) => {
          const to = chosen ?? emails[0];
          return to === undefined ? (
            <p>Nobody can get it yet. Add people to DESK_PEOPLE, and restart the site.</p>
          ) : (
            <DialogForm
              action="Send"
              mutation={send}
              input={{ ...choice, to }}
              onDone={() => {
                onClose();
                showNotice(`The report to ${to} is queued.`);
              }}
            >
              <SelectField
                label="To"
                value={to}
                options={emails.map((value) => ({ value }))}
                onChange={({ target }) => setChosen(target.value)}
              />
            </DialogForm>
          );
        }}
      </QueryResult>
    </Dialog>
  );
}
