// Figures about many people: today, the report, what waits, and what the doctor found.
import * as z from 'zod/mini';

import { get, post } from '#desk/endpoints/endpoint.ts';

export type Span = 'day' | 'week' | 'month';

/** Of the day, week (7 days) and month (30 days) up to now, beside the same time before. Null: not kept that long. */
export type SpanFigures = {
  readonly span: Span;
  readonly now: Steps;
  readonly before: Steps | null;
};
/**
 * How many saw the page, opened the form, asked for a code (each browser once for each address), became leads, read at least a quarter of
 * the article. Null: not known. Views, opened forms and reading are counted by the whole day, so they are not known of the time before,
 * which ends in the middle of one.
 */
export type Steps = {
  readonly seen: number | null;
  readonly opened: number | null;
  readonly asked: number | null;
  readonly leads: number;
  readonly read: number | null;
};

/** Something that needs doing; `page` is the desk's own page that shows more, such as `/mail`. */
export type ToDo = {
  readonly state: 'problem' | 'warning' | 'note';
  readonly sentence: string;
  readonly page: string;
};

export const today = get<{
  readonly spans: readonly SpanFigures[];
  /** Leads of each of the last 30 days, the oldest first. */
  readonly byDay: readonly { readonly day: string; readonly leads: number }[];
  readonly newest: readonly {
    readonly id: string;
    readonly name: string;
    readonly company: string;
    readonly since: string;
    readonly source: string;
  }[];
  readonly toDo: readonly ToDo[];
}>()({ path: '/api/today', needs: 'read', asked: z.object({}) });

/** What `desk report` writes with --json (docs/desk.md); `period` as there: 7d, 30d, 4w, 2026-10. */
export const ReportAsked = z.object({
  period: z._default(z.string().check(z.maxLength(20)), '30d'),
  source: z.optional(z.string()),
  campaign: z.optional(z.string()),
  variant: z.optional(z.string()),
});
export type ReportAsked = z.infer<typeof ReportAsked>;

export type ReportShown = {
  readonly title: string;
  /** The same figures, sections and notes as in the file; safe to insert. Styled by desk/web/report/report.css. */
  readonly html: string;
  /** Campaigns to choose from, the largest first. */
  readonly campaigns: readonly string[];
};
export const report = get<ReportShown>()({ path: '/api/report', needs: 'read', asked: ReportAsked });
/** The same as a file. Not JSON: `REPORT_FILE_PATH?period=…`. */
export const REPORT_FILE_PATH = '/api/report.html';

export const mail = get<{
  /** Mail that waits, by recipient domain, the oldest first. */
  readonly waiting: readonly {
    readonly domain: string;
    readonly count: number;
    readonly oldestAt: string;
    readonly putOff: number;
  }[];
  /** Mail that was refused in the last 30 days, by domain and what the mail server said. */
  readonly refused: readonly {
    readonly domain: string;
    readonly reply: string;
    readonly count: number;
    readonly lastAt: string;
  }[];
  readonly isWritable: boolean;
}>()({ path: '/api/mail', needs: 'read', asked: z.object({}) });

export const suppressions = get<{
  readonly suppressions: readonly {
    /** Of the person's page; null where nothing more is held about the address. */
    readonly id: string | null;
    /** Null for an address that was erased. */
    readonly email: string | null;
    readonly reason: string;
    readonly since: string;
    readonly note: string | null;
  }[];
  readonly next: string | null;
}>()({ path: '/api/suppressions', needs: 'read', asked: z.object({ after: z.optional(z.string()) }) });

export const webhooks = get<{
  readonly queued: number;
  readonly dead: number;
  readonly events: readonly {
    readonly id: string;
    readonly type: string;
    readonly state: 'queued' | 'dead';
    readonly attempts: number;
    readonly madeAt: string;
    readonly nextTryAt: string | null;
    /** The host only: the address is a secret. */
    readonly to: string;
    readonly answer: string | null;
  }[];
}>()({ path: '/api/webhooks', needs: 'read', asked: z.object({}) });
/** Tries dead events again for another 24 hours. */
export const retryWebhooks = post<{ readonly revived: number }>()({
  path: '/api/webhooks/retry',
  needs: 'all',
  /** Null: all of them. */
  asked: z.object({ ids: z.nullable(z.array(z.string())) }),
});

export type Finding = {
  readonly check: string;
  readonly state: 'ok' | 'note' | 'warning' | 'problem';
  readonly sentence: string;
  readonly publish?: { readonly name: string; readonly type: string; readonly value: string };
};
/** What the doctor found. It looks anew when `again` is set, or it has not looked for ten minutes. Takes up to half a minute. */
export const doctor = get<{ readonly findings: readonly Finding[]; readonly lookedAt: string }>()({
  path: '/api/doctor',
  needs: 'read',
  asked: z.object({ again: z.optional(z.literal('yes')) }),
});
