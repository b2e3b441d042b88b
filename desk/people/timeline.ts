import type { Story } from '#desk/endpoints/people.ts';
import type { PersonalData } from '#server/db/queries/personal-data.ts';
import { readAttribution, sourceOf } from '#server/attribution/attribution.ts';
import { isoTime } from '#server/platform/time.ts';
import { answersOf, type LeadAnswers } from '#shared/lead.ts';
import { answersByLabel } from '#shared/own-fields.ts';

/** `at` is ISO 8601 in UTC; unknown details are absent. */
export type TimelineEntry = Story['happenings'][number];

type Happening = Omit<TimelineEntry, 'at' | 'details'> & {
  readonly ms: number;
  readonly details?: Readonly<Record<string, string | number | null | undefined>>;
};

/** The order of entries with the same time, by the beginnings of their texts. */
const ORDER = ['asked', 'mail', 'had entered', 'entered', 'became', 'agreed'];

export function timelineOf(data: PersonalData): readonly TimelineEntry[] {
  const happenings: Happening[] = [
    ...data.submissions.map((form) => ({
      ms: form.given_at,
      kind: 'form' as const,
      what: 'asked for a code',
      details: {
        ...namedAnswers(form),
        'address as typed': form.email_typed,
        'consent wording': form.consent_version,
        'wording of the consent to news': form.news_consent_version,
        source: sourceOf(readAttribution(form.attribution)),
        flags: form.flags,
        variant: form.variant,
        from: form.client_address,
        browser: form.user_agent,
      },
    })),
    ...data.outbox.map((mail) => ({
      ms: mail.finished_at ?? mail.created_at,
      kind: 'mail' as const,
      what: `mail ${mail.state === 'queued' ? 'waits' : mail.state}`,
      details: {
        kind: mail.kind,
        attempts: mail.attempts,
        'the mail server said': mail.reply,
        'asked for at': isoTime(mail.created_at),
        'next try at': mail.state === 'queued' ? isoTime(mail.due_at) : null,
        reference: mail.id,
      },
    })),
    ...data.submissions
      .filter((form) => form.wrong_attempts > 0)
      .map((form) => ({
        ms: form.verified_at ?? form.expires_at,
        kind: 'code' as const,
        what: 'had entered wrong codes',
        details: { 'how often': form.wrong_attempts },
      })),
    ...data.codes.flatMap((code) =>
      code.used_at === null ? [] : [{ ms: code.used_at, kind: 'code' as const, what: 'entered the code' }],
    ),
    ...data.leads.map((lead) => ({
      ms: lead.first_verified_at,
      kind: 'lead' as const,
      what: 'became a lead',
      details: namedAnswers(lead),
    })),
    ...data.leads.flatMap(({ first_read_at: ms }) =>
      ms === null ? [] : [{ ms, kind: 'read' as const, what: 'read the article for the first time' }],
    ),
    ...data.consent_receipts.map((receipt) => ({
      ms: receipt.verified_at,
      kind: 'consent' as const,
      what:
        receipt.purpose === 'news'
          ? 'agreed to get news'
          : 'agreed to receive emails and proved their address',
      details: {
        'consent wording': receipt.consent_version,
        'given at': isoTime(receipt.given_at),
        'given from': receipt.client_address,
        'proved from': receipt.verified_from_address,
        browser: receipt.user_agent,
        'code entered in': receipt.same_browser === 1 ? 'the browser that sent the form' : 'another browser',
        reference: receipt.id,
      },
    })),
    ...data.imported_leads.map((imported) => ({
      ms: imported.imported_at,
      kind: 'other' as const,
      what: 'was imported from another tool, not verified here',
      details: {
        ...namedAnswers(answersBefore(imported, data.imported_corrections)),
        'consent came from': imported.consent_source,
        'consent given at': imported.consent_given_at === null ? null : isoTime(imported.consent_given_at),
        file: imported.file_name,
      },
    })),
    ...data.withdrawals.map((withdrawal) => ({
      ms: withdrawal.withdrawn_at,
      kind: 'withdrawal' as const,
      what: 'withdrew the consent',
      details: {
        'by way of': withdrawal.way,
        from: withdrawal.client_address,
        browser: withdrawal.user_agent,
        reference: withdrawal.id,
      },
    })),
    ...data.suppression_removals.map((removal) => ({
      ms: removal.removed_at,
      kind: 'other' as const,
      what: 'had a suppression removed by the operator',
      details: {
        'reason for the suppression': removal.reasons,
        'reason for the removal': removal.note,
        reference: removal.id,
      },
    })),
    ...data.suppressions.map((suppression) => ({
      ms: suppression.created_at,
      kind: 'other' as const,
      what: 'was suppressed',
      details: { reason: suppression.reason, note: suppression.note },
    })),
    ...[...data.corrections, ...data.imported_corrections].map((correction) => ({
      ms: correction.corrected_at,
      kind: 'correction' as const,
      what: 'was corrected by the operator',
      details: {
        name: change(correction.name_before, correction.name),
        company: change(correction.company_before, correction.company),
        ...changedAnswers(correction.answers_before, correction.answers),
      },
    })),
    ...data.exported_leads.map((exported) => ({
      ms: exported.exported_at,
      kind: 'export' as const,
      what: 'was exported',
      details: { as: exported.export_name },
    })),
    ...data.webhook_events.map((event) => ({
      ms: event.finished_at ?? event.created_at,
      kind: 'webhook' as const,
      what: `webhook ${event.state === 'queued' ? 'waits' : event.state}`,
      details: {
        event: event.type,
        attempts: event.attempts,
        'the receiver answered': event.reply,
        'next try at': event.state === 'queued' ? isoTime(event.due_at) : null,
        reference: event.id,
      },
    })),
  ];
  return happenings
    .toSorted((a, b) => a.ms - b.ms || rank(a) - rank(b))
    .map(({ ms, kind, what, details = {} }) => ({ at: isoTime(ms), kind, what, details: known(details) }));
}

const rank = ({ what }: Happening): number => {
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

const NONE = '–';

const change = (before: string, after: string): string | null =>
  before === after ? null : `${before} → ${after}`;

function known(details: NonNullable<Happening['details']>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(details).flatMap(([name, value]) =>
      value === null || value === undefined || value === '' ? [] : [[name, String(value)]],
    ),
  );
}
