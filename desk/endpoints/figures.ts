import * as z from 'zod/mini';

import { get, post, type Nothing } from '#desk/endpoints/endpoint.ts';

export type Span = 'day' | 'week' | 'month';

/** The last 1, 7 or 30 days and the same span before. */
export type SpanFigures = {
  readonly span: Span;
  readonly now: Steps;
  readonly before: Steps;
};
/**
 * Page views, opened forms, requests for codes (once per browser and e-mail address), leads, reads of a quarter of the article.
 * Views, forms and reads are counted per day, so they are null for the previous span, which ends within a day. They are also null
 * for a span with leads from before the first view, or with leads but no views.
 */
export type Steps = {
  readonly seen: number | null;
  readonly opened: number | null;
  readonly asked: number | null;
  readonly leads: number;
  readonly read: number | null;
};

/** `page` is the path with details, such as `/mail`; `place` is a campaign file and a line, such as `campaign/site.yaml:15`. */
export type ToDo = {
  readonly state: 'problem' | 'warning' | 'note';
  readonly sentence: string;
  readonly place?: string;
  readonly page: string;
};

export const today = get<{
  readonly spans: readonly SpanFigures[];
  readonly byDay: readonly { readonly day: string; readonly leads: number }[];
  readonly newest: readonly {
    readonly id: string;
    readonly name: string;
    readonly company: string;
    readonly since: string;
    readonly source: string;
  }[];
  readonly toDo: readonly ToDo[];
}>()('/api/today', 'read');

/** Matches `desk report --json` (docs/desk.md). Example periods: 7d, 30d, 4w, 2026-10. */
export const ReportQuery = z.object({
  period: z._default(z.string().check(z.maxLength(20)), '30d'),
  source: z.optional(z.string()),
  campaign: z.optional(z.string()),
  variant: z.optional(z.string()),
});
export type ReportQuery = z.infer<typeof ReportQuery>;

export type ReportShown = {
  readonly title: string;
  /** Safe to insert; styled by desk/web/report/report.css. */
  readonly html: string;
  readonly campaigns: readonly string[];
};
export const report = get<ReportShown>()('/api/report', 'read', ReportQuery);
/** Desk users, who can receive a report. */
export const reportReaders = get<{ readonly emails: readonly string[] }>()('/api/report/readers', 'all');
/** Mails the report as a file. */
export const sendReport = post<Nothing>()(
  '/api/report/send',
  'all',
  z.extend(ReportQuery, { to: z.string().check(z.maxLength(254)) }),
);
/** An HTML file: `REPORT_FILE_PATH?period=…`. */
export const REPORT_FILE_PATH = '/api/report.html';

export const mail = get<{
  readonly waiting: readonly {
    readonly domain: string;
    readonly count: number;
    readonly oldestAt: string;
    readonly putOff: number;
  }[];
  readonly refused: readonly {
    readonly domain: string;
    readonly reply: string;
    readonly count: number;
    readonly lastAt: string;
  }[];
  readonly isWritable: boolean;
}>()('/api/mail', 'read');

export const suppressions = get<{
  readonly suppressions: readonly {
    readonly id: string | null;
    readonly email: string | null;
    readonly reason: string;
    readonly since: string;
    readonly note: string | null;
  }[];
  readonly next: string | null;
}>()('/api/suppressions', 'read', z.object({ after: z.optional(z.string()) }));

export const webhooks = get<{
  readonly queued: number;
  readonly dead: number;
  readonly events: readonly {
    readonly id: string;
    readonly type: string;
    /** `queued` or `dead`. */
    readonly state: string;
    readonly attempts: number;
    readonly created_at: string;
    /** Null if the event is not retried automatically. */
    readonly due_at: string | null;
    /** Omits the path, because the URL is a secret. */
    readonly to: string;
    readonly response: string | null;
  }[];
}>()('/api/webhooks', 'read');
/** Retries dead events for 24 hours. */
export const retryWebhooks = post<{ readonly revived: number }>()(
  '/api/webhooks/retry',
  'all',
  /** Null retries all. */
  z.object({ ids: z.nullable(z.array(z.string())) }),
);

export type Finding = {
  readonly check: string;
  /**
   * `problem`: codes may fail to arrive, or may be insecure. `warning`: to be fixed soon. `note`: not checked, or up to the
   * operator.
   */
  readonly state: 'ok' | 'note' | 'warning' | 'problem';
  readonly sentence: string;
  /** A DNS record as DNS providers' forms expect it: with full names and no trailing dot. */
  readonly publish?: { readonly name: string; readonly type: string; readonly value: string };
};
/** Runs the doctor if `again` is set or the findings are ten minutes old. This takes up to 30 seconds. */
export const doctor = get<{ readonly findings: readonly Finding[]; readonly checkedAt: string }>()(
  '/api/doctor',
  'read',
  z.object({ again: z.optional(z.literal('yes')) }),
);
