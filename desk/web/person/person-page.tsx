import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';

import { PROOF_PATH, story, type Story } from '#desk/endpoints/people.ts';
import { addressOf, CallError } from '#desk/web/ask.ts';
import { useFile } from '#desk/web/use-file.ts';
import { Link } from '#desk/web/link.tsx';
import { Erase, MailAgain, SendGuide, StopMail, type ChangeProps } from '#desk/web/person/changes.tsx';
import { Correct } from '#desk/web/person/correct.tsx';
import { Timeline } from '#desk/web/person/timeline.tsx';
import styles from '#desk/web/person/person-page.module.css';
import { useMayChange } from '#desk/web/person.ts';
import { keyOf, useAsk } from '#desk/web/queries.ts';
import { go, usePlace } from '#desk/web/router.ts';
import { Answered } from '#desk/web/ui/answered.tsx';
import { Button } from '#desk/web/ui/button.tsx';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { EmptyState } from '#desk/web/ui/empty-state.tsx';
import { useNotice } from '#desk/web/ui/notice.tsx';
import { Page, Section } from '#desk/web/ui/page.tsx';
import { Pill } from '#desk/web/ui/pill.tsx';
import { personPage as words, suppressionReasons } from '#desk/web/words.ts';
import { answerText } from '#shared/own-fields.ts';

export function PersonPage() {
  const { query } = usePlace();
  const id = query.get('id') ?? '';
  const asked = useAsk(story, { id });
  if (asked.error instanceof CallError && asked.error.status === 404) return <NotHere />;
  const { data } = asked;
  return data === undefined ? (
    <Page title={words.title}>
      <Answered of={asked} lines={8}>
        {() => null}
      </Answered>
    </Page>
  ) : (
    // The key closes dialogues when another person is shown.
    <Told key={id} story={data} />
  );
}

function NotHere() {
  const { title, text, link } = words.notFound;
  return (
    <Page title={title}>
      <EmptyState text={text}>
        <Link href="/leads">{link}</Link>
      </EmptyState>
    </Page>
  );
}

const TONES = { verified: 'good', suppressed: 'problem', unverified: 'plain', imported: 'plain' } as const;

type Change = 'correct' | 'send-guide' | 'suppress' | 'unsuppress' | 'erase';

function Told({ story: told }: { readonly story: Story }) {
  const { person, happenings } = told;
  const [change, setChange] = useState<Change | null>(null);
  const { say } = useNotice();
  const client = useQueryClient();
  const mayChange = useMayChange();
  const done = (sentence: string) => {
    if (change === 'erase') {
      go('/leads', { replace: true });
      client.removeQueries({ queryKey: keyOf(story) });
    }
    setChange(null);
    say(sentence);
  };
  const Change = change === null ? null : DIALOGUES[change];
  return (
    <Page
      title={person.name || person.email}
      lead={
        <span className={styles.who}>
          <Pill tone={TONES[person.state]}>{words.states[person.state]}</Pill>
          {person.flags.map((flag) => (
            <Pill key={flag} tone="warning">
              {flag}
            </Pill>
          ))}
          <span>{person.email}</span>
        </span>
      }
      actions={mayChange && <Actions story={told} onChoose={setChange} />}
    >
      <Stopped story={told} onUndo={() => setChange('unsuppress')} />
      <div className={styles.columns}>
        <Section title={words.story.heading}>
          <Timeline happenings={happenings} />
        </Section>
        <div className={styles.side}>
          <Facts person={person} />
          <Consent story={told} />
        </div>
      </div>
      {Change && <Change person={person} onClose={() => setChange(null)} onDone={done} />}
    </Page>
  );
}

/** After these reasons, consent is withdrawn and no mail remains to stop. */
const WITHDRAWALS: ReadonlySet<string> = new Set(['unsubscribed', 'complained', 'erased']);

function Actions({
  story: { person, canSendGuide, suppressions },
  onChoose,
}: {
  readonly story: Story;
  readonly onChoose: (change: Change) => void;
}) {
  return (
    <>
      {person.state !== 'unverified' && (
        <Button onClick={() => onChoose('correct')}>{words.actions.correct}</Button>
      )}
      {canSendGuide && <Button onClick={() => onChoose('send-guide')}>{words.actions.sendGuide}</Button>}
      {!suppressions.some(({ reason }) => WITHDRAWALS.has(reason)) && (
        <Button onClick={() => onChoose('suppress')}>{words.actions.suppress}</Button>
      )}
      <Button className={styles.erase} onClick={() => onChoose('erase')}>
        {words.actions.erase}
      </Button>
    </>
  );
}

function Stopped({
  story: { suppressions },
  onUndo,
}: {
  readonly story: Story;
  readonly onUndo: () => void;
}) {
  const mayChange = useMayChange();
  if (suppressions.length === 0) return null;
  const canUndo = suppressions.some((one) => one.canUndo);
  return (
    <section className={styles.stopped} aria-labelledby="stopped">
      <div>
        <h2 id="stopped">{words.stopped.heading}</h2>
        <ul>
          {suppressions.map(({ reason, since, note }) => (
            <li key={`${reason} ${since}`}>
              {suppressionReasons[reason] ?? reason}, {words.stopped.since} <DateTime at={since} />
              {note !== null && note !== '' && <q className={styles.note}>{note}</q>}
            </li>
          ))}
        </ul>
        {!canUndo && <p className={styles.quiet}>{words.stopped.cannotUndo}</p>}
      </div>
      {canUndo && mayChange && <Button onClick={onUndo}>{words.stopped.undo}</Button>}
    </section>
  );
}

function Facts({ person }: { readonly person: Story['person'] }) {
  const { facts } = words;
  const { state, since, firstReadAt, source, campaign, variant, company, answers } = person;
  return (
    <Section title={facts.heading}>
      <dl className={styles.facts}>
        <Fact name={facts.company}>{company || facts.none}</Fact>
        <Fact name={facts.since[state]}>
          <DateTime at={since} />
        </Fact>
        {(state === 'verified' || state === 'suppressed') && (
          <Fact name={facts.firstRead}>
            {firstReadAt === null ? facts.notRead : <DateTime at={firstReadAt} />}
          </Fact>
        )}
        {source !== '' && <Fact name={facts.source}>{source}</Fact>}
        {campaign !== null && <Fact name={facts.campaign}>{campaign}</Fact>}
        {variant !== null && <Fact name={facts.variant}>{variant}</Fact>}
        {Object.entries(answers).map(([id, { label, answer }]) => (
          <Fact key={id} name={label}>
            {answerText(answer) || facts.none}
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

function Consent({ story: { consent, person } }: { readonly story: Story }) {
  if (consent === null)
    return (
      <Section title={words.consent.heading}>
        <p className={styles.quiet}>{words.consent.none}</p>
      </Section>
    );
  const { text, givenAt, version } = consent;
  return (
    <Section title={words.consent.heading}>
      <blockquote className={styles.wording}>{text}</blockquote>
      <dl className={styles.facts}>
        {givenAt !== null && (
          <Fact name={words.consent.given}>
            <DateTime at={givenAt} />
          </Fact>
        )}
        {version !== null && <Fact name={words.consent.version}>{version}</Fact>}
      </dl>
      {(person.state === 'verified' || person.state === 'suppressed') && (
        <p>
          <ProofButton id={person.id} />
        </p>
      )}
    </Section>
  );
}

function ProofButton({ id }: { readonly id: string }) {
  const proof = useFile(addressOf(PROOF_PATH, { id }), 'proof.html', 'show');
  return (
    <Button look="text" aria-busy={proof.isPending || undefined} onClick={() => proof.mutate()}>
      {words.consent.proof}
    </Button>
  );
}

const DIALOGUES: Readonly<Record<Change, (props: ChangeProps) => ReactNode>> = {
  correct: Correct,
  'send-guide': SendGuide,
  suppress: StopMail,
  unsuppress: MailAgain,
  erase: Erase,
};
