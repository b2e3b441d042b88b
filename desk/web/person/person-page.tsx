import { useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';

import { PROOF_PATH, personDetails, type Consent, type PersonDetails } from '#desk/endpoints/people.ts';
import { urlOf, ApiError } from '#desk/web/api-client.ts';
import { useOpenFile, useMayChange, keyOf, useDeskQuery } from '#desk/web/queries.ts';
import { Link, navigate, useLocation } from '#desk/web/router.tsx';
import { lastFilter, leadsUrl } from '#desk/web/leads/filter.ts';
import { useNeighbours } from '#desk/web/leads/use-people.ts';
import { Erase, MailAgain, SendGuide, StopMail, type ChangeProps } from '#desk/web/person/changes.tsx';
import { Correct } from '#desk/web/person/correct.tsx';
import { Timeline } from '#desk/web/person/timeline.tsx';
import styles from '#desk/web/person/person-page.module.css';
import { QueryResult, EmptyState } from '#desk/web/ui/states.tsx';
import { Button } from '#desk/web/ui/button.tsx';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { useNotice, type NoticeKind } from '#desk/web/ui/notice.tsx';
import { Page, Section } from '#desk/web/ui/page.tsx';
import { Pill } from '#desk/web/ui/pill.tsx';
import { displayedAnswer } from '#shared/own-fields.ts';
import { NONE, suppressionReason } from '#desk/web/format.ts';

export function PersonPage() {
  const { query } = useLocation();
  const id = query.get('id') ?? '';
  const result = useDeskQuery(personDetails, { id });
  if (id === '' || (result.error instanceof ApiError && result.error.status === 404))
    return <PersonNotFound />;
  const { data } = result;
  return data === undefined ? (
    <Page back={<BackLinks id={id} />} title="Person">
      <QueryResult of={result} lines={8}>
        {() => null}
      </QueryResult>
    </Page>
  ) : (
    // The key closes open dialogs when another person is shown.
    <Details key={id} id={id} result={result} details={data} />
  );
}

function BackLinks({ id }: { readonly id: string }) {
  const neighbours = useNeighbours(id);
  const links = [
    { name: 'Previous', key: 'k', person: neighbours?.previous },
    { name: 'Next', key: 'j', person: neighbours?.next },
  ];
  return (
    <span className={`row ${styles.way}`}>
      <Link href={leadsUrl(lastFilter())}>← Leads</Link>
      {neighbours !== null &&
        links.map(({ name, key, person }) =>
          person === undefined ? (
            <span key={key} className="quiet">
              {name}
            </span>
          ) : (
            <Link
              key={key}
              href={urlOf('/person', { id: person.id })}
              aria-keyshortcuts={key}
              title={person.name || person.email}
              onClick={() => scrollTo(0, 0)}
            >
              {name}
            </Link>
          ),
        )}
    </span>
  );
}

const PersonNotFound = () => (
  <Page title="Person not found">
    <EmptyState text="The person was erased, or the URL of this page is incomplete. Search the list of leads.">
      <Link href="/leads">Go to the leads</Link>
    </EmptyState>
  </Page>
);

const STATES = {
  verified: { name: 'Lead', tone: 'good' },
  suppressed: { name: 'Gets no mail', tone: 'problem' },
  unverified: { name: 'Not verified', tone: 'plain' },
  imported: { name: 'Imported', tone: 'plain' },
} as const;

type Change = 'correct' | 'send-guide' | 'suppress' | 'unsuppress' | 'erase';

type DetailsProps = {
  /** ID in the list, which may belong to a form. */
  readonly id: string;
  readonly result: UseQueryResult<PersonDetails>;
  readonly details: PersonDetails;
};

function Details({ id, result, details }: DetailsProps) {
  const { person, timeline } = details;
  const [change, setChange] = useState<Change | null>(null);
  const { showNotice } = useNotice();
  const client = useQueryClient();
  const mayChange = useMayChange();
  const done = (sentence: string, kind?: NoticeKind) => {
    if (change === 'erase') {
      // The URL of the last list may contain the erased e-mail address.
      navigate('/leads', { replace: true });
      client.removeQueries({ queryKey: keyOf(personDetails) });
    }
    setChange(null);
    showNotice(sentence, kind);
  };
  const Change = change === null ? null : CHANGE_DIALOGS[change];
  return (
    <Page
      back={<BackLinks id={id} />}
      title={person.name || person.email}
      lead={
        <span className={`row ${styles.who}`}>
          <Pill tone={STATES[person.state].tone}>{STATES[person.state].name}</Pill>
          {person.flags.map((flag) => (
            <Pill key={flag} tone="warning">
              {flag}
            </Pill>
          ))}
          <span>{person.email}</span>
        </span>
      }
      actions={mayChange && <Actions details={details} onChoose={setChange} />}
    >
      <QueryResult of={result}>{() => null}</QueryResult>
      <SuppressionNotice details={details} onUndo={() => setChange('unsuppress')} />
      <div className={`stack ${styles.columns}`}>
        <Section title="Timeline">
          <Timeline entries={timeline} />
        </Section>
        <div className={`stack ${styles.side}`}>
          <Facts person={person} />
          <ConsentSection details={details} />
        </div>
      </div>
      {Change && <Change {...details} onClose={() => setChange(null)} onDone={done} />}
    </Page>
  );
}

/** Reasons that withdraw the consent, so no mail is sent anyway. */
const WITHDRAWALS: ReadonlySet<string> = new Set(['unsubscribed', 'complained', 'erased']);

function Actions({
  details: { person, canSendGuide, suppressions },
  onChoose,
}: {
  readonly details: PersonDetails;
  readonly onChoose: (change: Change) => void;
}) {
  return (
    <>
      {person.state !== 'unverified' && <Button onClick={() => onChoose('correct')}>Correct</Button>}
      {canSendGuide && <Button onClick={() => onChoose('send-guide')}>Send the guide again</Button>}
      {!suppressions.some(({ reason }) => WITHDRAWALS.has(reason)) && (
        <Button onClick={() => onChoose('suppress')}>Stop mail</Button>
      )}
      <Button className={styles.erase} onClick={() => onChoose('erase')}>
        Erase
      </Button>
    </>
  );
}

function SuppressionNotice({
  details: { suppressions },
  onUndo,
}: {
  readonly details: PersonDetails;
  readonly onUndo: () => void;
}) {
  const mayChange = useMayChange();
  if (suppressions.length === 0) return null;
  const canUndo = suppressions.some((one) => one.canUndo);
  return (
    <section className={`row ${styles.stopped}`} aria-labelledby="stopped">
      <div>
        <h2 id="stopped">Gets no mail except requested codes</h2>
        <ul>
          {suppressions.map(({ reason, since, note }) => (
            <li key={`${reason} ${since}`}>
              {suppressionReason(reason)}, since <DateTime at={since} />
              {note && (
                <div>
                  <q>{note}</q>
                </div>
              )}
            </li>
          ))}
        </ul>
        {!canUndo && (
          <p className="quiet">
            This was the person’s own decision. They can only return by requesting a new code on the page.
          </p>
        )}
      </div>
      {canUndo && mayChange && <Button onClick={onUndo}>Undo</Button>}
    </section>
  );
}

const SINCE = {
  verified: 'Lead since',
  suppressed: 'Lead since',
  unverified: 'Asked for a code',
  imported: 'Imported',
} as const;

function Facts({ person }: { readonly person: PersonDetails['person'] }) {
  const { state, since, firstReadAt, source, campaign, variant, company, answers } = person;
  return (
    <Section title="What is known">
      <dl className={`ruled ${styles.facts}`}>
        <Fact name="Company">{company || NONE}</Fact>
        <Fact name={SINCE[state]}>
          <DateTime at={since} />
        </Fact>
        {(state === 'verified' || state === 'suppressed') && (
          <Fact name="First read the guide">
            {firstReadAt === null ? 'Not yet' : <DateTime at={firstReadAt} />}
          </Fact>
        )}
        {source !== '' && <Fact name="Source">{source}</Fact>}
        {campaign !== null && <Fact name="Campaign">{campaign}</Fact>}
        {variant !== null && <Fact name="Variant of the page">{variant}</Fact>}
        {Object.entries(answers).map(([id, { label, answer }]) => (
          <Fact key={id} name={label}>
            {displayedAnswer(answer) || NONE}
          </Fact>
        ))}
      </dl>
    </Section>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

function ConsentSection({ details: { consent, newsConsent, person } }: { readonly details: PersonDetails }) {
  if (consent === null)
    return (
      <Section title="Consent">
        <p className="quiet">There is no consent, because this address was never verified here.</p>
      </Section>
    );
  return (
    <Section title="Consent">
      <ConsentText consent={consent} />
      {newsConsent !== null && (
        <>
          <h3>News</h3>
          <ConsentText consent={newsConsent} />
        </>
      )}
      {(person.state === 'verified' || person.state === 'suppressed') && (
        <p>
          <ProofButton id={person.id} />
        </p>
      )}
    </Section>
  );
}

const ConsentText = ({ consent: { text, givenAt, version } }: { readonly consent: Consent }) => (
  <>
    <blockquote className={styles.wording}>{text}</blockquote>
    <dl className={`ruled ${styles.facts}`}>
      {givenAt !== null && (
        <Fact name="Given">
          <DateTime at={givenAt} />
        </Fact>
      )}
      {version !== null && <Fact name="Wording">{version}</Fact>}
    </dl>
  </>
);

function ProofButton({ id }: { readonly id: string }) {
  const proof = useOpenFile(urlOf(PROOF_PATH, { id }), 'proof.html', 'show');
  return (
    <Button look="text" isBusy={proof.isPending} onClick={() => proof.mutate()}>
      Proof to print
    </Button>
  );
}

const CHANGE_DIALOGS: Readonly<Record<Change, (props: ChangeProps) => ReactNode>> = {
  correct: Correct,
  'send-guide': SendGuide,
  suppress: StopMail,
  unsuppress: MailAgain,
  erase: Erase,
};
