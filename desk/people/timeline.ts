import type { TimelineEntry } from '#desk/endpoints/people.ts';
import type { PersonalData } from '#server/db/queries/personal-data.ts';
import { readAttribution, sourceOf } from '#server/attribution/attribution.ts';
import { isoTime } from '#server/platform/time.ts';
import { answersOf, type LeadAnswers } from '#shared/lead.ts';
import { answersByLabel } from '#shared/own-fields.ts';

type Kind = TimelineEntry['kind'];
type Details = Readonly<Record<string, string | number | null | undefined>>;
type TimedEntry = Omit<TimelineEntry, 'at'> & { readonly ms: number };

export function timelineOf(data: PersonalData, now: number): readonly TimelineEntry[] {
  const entries: TimedEntry[] = [
    ...data.submissions.map((form) =>
      entry('form', form.given_at, 'asked for a code', {
        ...namedAnswers(form),
        'address as typed': form.email_typed,
        'consent wording': form.consent_version,
        'wording of the consent to news': form.news_consent_version,
        source: sourceOf(readAttribution(form.attribution)),
        flags: form.flags,
        variant: form.variant,
        from: form.client_address,
        browser: form.user_agent,
      }),
    ),
    ...data.outbox.map((mail) =>
      entry('mail', mail.finished_at ?? mail.created_at, `mail ${describeState(mail)}`, {
        kind: mail.kind,
        attempts: mail.attempts,
        'the mail server said': mail.reply,
        'asked for at': isoTime(mail.created_at),
        'next attempt at': nextAttemptOf(mail),
        reference: mail.id,
      }),
    ),
    ...data.submissions
      .filter((form) => form.wrong_attempts > 0)
      .map((form) =>
        entry('code', form.verified_at ?? Math.min(form.expires_at, now), 'had entered wrong codes', {
          'how often': form.wrong_attempts,
        }),
      ),
    ...data.codes.flatMap(({ used_at: ms }) => (ms === null ? [] : [entry('code', ms, 'entered the code')])),
    // Without the lead's answers, which later forms and corrections change.
    ...data.leads.map((lead) => entry('lead', lead.first_verified_at, 'became a lead')),
    ...data.leads.flatMap(({ first_read_at: ms }) =>
      ms === null ? [] : [entry('read', ms, 'read the article for the first time')],
    ),
    ...data.consent_receipts.map((receipt) =>
      entry(
        'consent',
        receipt.verified_at,
        receipt.purpose === 'news'
          ? 'agreed to get news'
          : 'agreed to receive emails and proved their address',
        {
          'consent wording': receipt.consent_version,
          'given at': isoTime(receipt.given_at),
          'given from': receipt.client_address,
          'proved from': receipt.verified_from_address,
          browser: receipt.user_agent,
          'code entered in':
            receipt.same_browser === 1 ? 'the browser that sent the form' : 'another browser',
          reference: receipt.id,
        },
      ),
    ),
    ...data.imported_leads.map((imported) =>
      entry('other', imported.imported_at, 'was imported from another tool, not verified here', {
        ...namedAnswers(answersBefore(imported, data.imported_corrections)),
        'consent came from': imported.consent_source,
        'consent given at': imported.consent_given_at === null ? null : isoTime(imported.consent_given_at),
        file: imported.file_name,
      }),
    ),
    ...data.withdrawals.map((withdrawal) =>
      entry('withdrawal', withdrawal.withdrawn_at, 'withdrew the consent', {
        'by way of': withdrawal.way,
        from: withdrawal.client_address,
        browser: withdrawal.user_agent,
        reference: withdrawal.id,
      }),
    ),
    ...data.suppression_removals.map((removal) =>
      entry('other', removal.removed_at, 'had a suppression removed by the operator', {
        'reason for the suppression': removal.reasons,
        'reason for the removal': removal.note,
        reference: removal.id,
      }),
    ),
    ...data.suppressions.map(({ created_at: ms, reason, note }) =>
      entry('other', ms, 'was suppressed', { reason, note }),
    ),
    ...[...data.corrections, ...data.imported_corrections].map((correction) =>
      entry('correction', correction.corrected_at, 'was corrected by the operator', {
        name: change(correction.name_before, correction.name),
        company: change(correction.company_before, correction.company),
        ...changedAnswers(correction.answers_before, correction.answers),
      }),
    ),
    ...data.exported_leads.map((exported) =>
      entry('export', exported.exported_at, 'was exported', { as: exported.export_name }),
    ),
    ...data.webhook_events.map((event) =>
      entry('webhook', event.finished_at ?? event.created_at, `webhook ${describeState(event)}`, {
        event: event.type,
        attempts: event.attempts,
        'the receiver responded': event.reply,
        'next attempt at': nextAttemptOf(event),
        reference: event.id,
      }),
    ),
  ];
  return entries
    .toSorted((a, b) => a.ms - b.ms || rank(a) - rank(b))
    .map(({ ms, ...rest }) => ({ at: isoTime(ms), ...rest }));
}

const entry = (kind: Kind, ms: number, what: string, details: Details = {}): TimedEntry => ({
  ms,
  kind,
  what,
  details: Object.fromEntries(
    Object.entries(details).flatMap(([name, value]) =>
      value === null || value === undefined || value === '' ? [] : [[name, String(value)]],
    ),
  ),
});

const describeState = ({ state }: { readonly state: string }): string =>
  state === 'queued' ? 'waits' : state;

const nextAttemptOf = ({ state, due_at: dueAt }: { readonly state: string; readonly due_at: number }) =>
  state === 'queued' ? isoTime(dueAt) : null;

/** Orders entries with the same time by how their text begins. */
const ORDER = ['asked', 'mail', 'had entered', 'entered', 'became', 'agreed'];

const rank = ({ what }: TimedEntry): number => {
  const index = ORDER.findIndex((beginning) => what.startsWith(beginning));
  return index < 0 ? ORDER.length : index;
};

function answersBefore(
  imported: LeadAnswers,
  corrections: PersonalData['imported_corrections'],
): LeadAnswers {
  const first = corrections.toSorted((a, b) => a.corrected_at - b.corrected_at)[0];
  return first === undefined
    ? answersOf(imported)
    : { name: first.name_before, company: first.company_before, answers: first.answers_before };
}

const namedAnswers = ({ name, company, answers }: LeadAnswers): Readonly<Record<string, string>> => ({
  name,
  company,
  ...answersByLabel(answers),
});

const NONE = '–';

function changedAnswers(
  before: string | null,
  after: string | null,
): Readonly<Record<string, string | null>> {
  const [old, corrected] = [answersByLabel(before), answersByLabel(after)];
  const labels = Object.keys({ ...old, ...corrected });
  return Object.fromEntries(
    labels.map((label) => [label, change(old[label] ?? NONE, corrected[label] ?? NONE)]),
  );
}

const change = (before: string, after: string): string | null =>
  before === after ? null : `${before} → ${after}`;
