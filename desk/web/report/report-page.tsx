import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';

import { log } from '#desk/endpoints/auth.ts';
import { report, reportReaders, sendReport, type ReportAsked } from '#desk/endpoints/figures.ts';
import { choices } from '#desk/endpoints/people.ts';
import { useFile, useAsk, useMayChange, usePerson, useSend, useTimeZone } from '#desk/web/queries.ts';
import {
  offeredPeriods,
  readReportChoice,
  reportFileUrl,
  reportUrl,
} from '#desk/web/report/report-choice.ts';
import '#desk/web/report/report.css';
import styles from '#desk/web/report/report-page.module.css';
import { go, usePlace } from '#desk/web/router.tsx';
import { Button } from '#desk/web/ui/button.tsx';
import { Answered } from '#desk/web/ui/states.tsx';
import { Dialog, DialogForm } from '#desk/web/ui/dialog.tsx';
import { optionsOf, SelectField } from '#desk/web/ui/fields.tsx';
import { MailIcon } from '#desk/web/ui/icons.tsx';
import { useNotice } from '#desk/web/ui/notice.tsx';
import { Page } from '#desk/web/ui/page.tsx';
import { DownloadIcon } from '#web/ui/icons.tsx';

export function ReportPage() {
  const { query } = usePlace();
  const asked = readReportChoice(query);
  const shown = useAsk(report, asked, { placeholderData: keepPreviousData });
  const { data, isFetching, isPlaceholderData } = shown;
  const file = useFile(reportFileUrl(asked), 'report.html', 'save');
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
      <Choice asked={asked} campaigns={data?.campaigns ?? []} />
      {isCounting && (
        <p className="callout" role="status">
          Counting … With a million leads, this takes several seconds.
        </p>
      )}
      <Answered of={shown} lines={12}>
        {({ html }) => (
          <div
            className="report"
            aria-busy={isCounting || undefined}
            dangerouslySetInnerHTML={{ __html: html }}
          />
        )}
      </Answered>
      {isSending && <SendReport asked={asked} onClose={() => setSending(false)} />}
    </Page>
  );
}

function Choice({
  asked,
  campaigns,
}: {
  readonly asked: ReportAsked;
  readonly campaigns: readonly string[];
}) {
  const { variants } = usePerson();
  const timeZone = useTimeZone();
  const { data } = useAsk(choices, {});
  const [now] = useState(() => Date.now());
  const move = (changed: Partial<ReportAsked>) => go(reportUrl({ ...asked, ...changed }), { replace: true });
  return (
    <div className={styles.choice}>
      <SelectField
        label="Period"
        value={asked.period}
        options={offeredPeriods(now, timeZone, asked.period)}
        onChange={({ target }) => move({ period: target.value })}
      />
      <SelectField
        label="Source"
        value={asked.source ?? ''}
        options={optionsOf('All sources', data?.sources, asked.source)}
        onChange={({ target }) => move({ source: target.value })}
      />
      <SelectField
        label="Campaign"
        value={asked.campaign ?? ''}
        options={optionsOf('All campaigns', campaigns, asked.campaign)}
        onChange={({ target }) => move({ campaign: target.value })}
      />
      {(variants.length > 1 || asked.variant !== undefined) && (
        <SelectField
          label="Variant"
          value={asked.variant ?? ''}
          options={optionsOf('All variants', variants, asked.variant)}
          onChange={({ target }) => move({ variant: target.value })}
        />
      )}
    </div>
  );
}

function SendReport({ asked, onClose }: { readonly asked: ReportAsked; readonly onClose: () => void }) {
  const readers = useAsk(reportReaders, {});
  const [chosen, setChosen] = useState<string | null>(null);
  const send = useSend(sendReport, [log]);
  const { say } = useNotice();
  return (
    <Dialog
      onClose={() => !send.isPending && onClose()}
      title="Send this report"
      text="The e-mail contains the key figures, and the report as a file. It names no individuals."
    >
      <Answered of={readers} lines={2}>
        {({ emails }) => {
          const to = chosen ?? emails[0];
          return to === undefined ? (
            <p>Nobody can get it yet. Add people to DESK_PEOPLE, and restart the site.</p>
          ) : (
            <DialogForm
              action="Send"
              send={send}
              asked={{ ...asked, to }}
              onDone={() => {
                onClose();
                say(`The report to ${to} is queued.`);
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
      </Answered>
    </Dialog>
  );
}
