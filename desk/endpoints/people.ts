import * as z from 'zod/mini';

import { get, oneLine, post, type Nothing } from '#desk/endpoints/endpoint.ts';

export const STATES = ['verified', 'suppressed', 'unverified', 'imported'] as const;
export type State = (typeof STATES)[number];

export const Filter = z.object({
  state: z._default(z.enum(STATES), 'verified'),
  search: z.optional(z.string().check(z.maxLength(200))),
  source: z.optional(z.string()),
  /** A utm_campaign. */
  campaign: z.optional(z.string()),
  flag: z.optional(z.string()),
  /** Only people who agreed to get news. */
  news: z.optional(z.literal('yes')),
  field: z.optional(z.string()),
  answer: z.optional(z.string()),
  domain: z.optional(z.string()),
  /** First and last day, both included (example: 2026-11-23). */
  from: z.optional(z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/))),
  to: z.optional(z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/))),
});
export type Filter = z.infer<typeof Filter>;

export type Answers = Readonly<
  Record<string, { readonly label: string; readonly answer: string | readonly string[] }>
>;

export type Person = {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly company: string;
  readonly state: State;
  readonly since: string;
  readonly firstReadAt: string | null;
  readonly source: string;
  readonly campaign: string | null;
  readonly flags: readonly string[];
  readonly variant: string | null;
  readonly answers: Answers;
};

/** Newest first. The server searches for about 150 ms, so a page can be short or empty even if `next` is set. */
export type PeoplePage = {
  readonly people: readonly Person[];
  /** Value of `after` for the next page; null at the end. */
  readonly next: string | null;
  /** Everyone newer than this time has been checked; null at the end. */
  readonly searchedBackTo: string | null;
};
export const people = get<PeoplePage>()(
  '/api/people',
  'read',
  z.extend(Filter, { after: z.optional(z.string()) }),
);

/** Counts the leads in a period. Other filters would require a search. */
export const leadCount = get<{
  /** Includes suppressed leads. */
  readonly atMost: number;
  /** Null if counting would take long. */
  readonly verified: number | null;
}>()('/api/leads/count', 'read', z.pick(Filter, { from: true, to: true }));

export const domains = get<{
  /** International ones in their own letters. */
  readonly domains: readonly { readonly domain: string; readonly people: number }[];
  readonly next: string | null;
}>()('/api/domains', 'read', z.object({ after: z.optional(z.string()) }));

export const choices = get<{
  readonly sources: readonly string[];
  readonly campaigns: readonly string[];
  readonly flags: readonly string[];
  readonly formats: readonly {
    readonly name: string;
    /** Example: HubSpot */
    readonly title: string;
    readonly about: string;
    readonly takesEveryState: boolean;
  }[];
}>()('/api/choices', 'read');

/** Streams a file. Requires the role `all`: `EXPORT_PATH?format=csv&state=verified&…`. */
export const EXPORT_PATH = '/api/export';

export type TimelineEntry = {
  /** ISO 8601 in UTC. */
  readonly at: string;
  readonly kind:
    | 'form'
    | 'mail'
    | 'code'
    | 'lead'
    | 'read'
    | 'consent'
    | 'withdrawal'
    | 'correction'
    | 'export'
    | 'webhook'
    | 'other';
  readonly what: string;
  /** Omits unknown values. */
  readonly details: Readonly<Record<string, string>>;
};

export type Consent = {
  readonly text: string;
  readonly givenAt: string | null;
  readonly version: string | null;
};

export type PersonDetails = {
  readonly person: Person;
  readonly timeline: readonly TimelineEntry[];
  readonly consent: Consent | null;
  /** Null without one, and after an unsubscription. */
  readonly newsConsent: Consent | null;
  /** `canUndo`: the entry can be removed as a mistake, for a given reason. */
  readonly suppressions: readonly {
    readonly reason: string;
    readonly since: string;
    readonly note: string | null;
    readonly canUndo: boolean;
  }[];
  readonly canSendGuide: boolean;
};

const PERSON_ID = { id: z.string() };

export const personDetails = get<PersonDetails>()('/api/person', 'read', z.object(PERSON_ID));

/** A printable page: `PROOF_PATH?id=…`. */
export const PROOF_PATH = '/api/person/proof';

export const correct = post<Nothing>()(
  '/api/person/correct',
  'all',
  z.object({
    ...PERSON_ID,
    name: z.optional(z.string()),
    company: z.optional(z.string()),
    /** By question ID; an empty text deletes the answer. */
    answers: z.optional(z.record(z.string(), z.string())),
  }),
);
/** @returns a sentence with the number of erased rows; hasRemains: it also says what to do about remaining data */
export const erase = post<{ readonly erased: string; readonly hasRemains: boolean }>()(
  '/api/person/erase',
  'all',
  /** The retyped e-mail address guards against erasing the wrong person. */
  z.object({ ...PERSON_ID, email: z.string() }),
);
export const suppress = post<Nothing>()(
  '/api/person/suppress',
  'all',
  z.object({
    ...PERSON_ID,
    reason: z.enum(['by-hand', 'unsubscribed', 'complained', 'bounced']),
    note: z.optional(z.string().check(oneLine, z.maxLength(500))),
  }),
);
/**
 * Removes mistaken entries and adds the reason to the chain. `shown`: the reasons of the entries that the user saw; others may have
 * been added since. `staysStopped`: another entry still stops mail.
 */
export const unsuppress = post<{ readonly staysStopped: boolean }>()(
  '/api/person/unsuppress',
  'all',
  z.object({
    ...PERSON_ID,
    reason: z.string().check(oneLine, z.minLength(1), z.maxLength(500)),
    shown: z.array(z.string()),
  }),
);
export const sendGuide = post<Nothing>()('/api/person/send-guide', 'all', z.object(PERSON_ID));

export type Lost = {
  /** The form's ID, for {@link personDetails}; null if the form is no longer stored. */
  readonly id: string | null;
  /** Time of the newest request, ISO 8601 in UTC. */
  readonly asked_at: string;
  readonly email: string;
  readonly name: string;
  readonly company: string;
  /** By question ID; absent without custom questions. */
  readonly answers?: Answers;
  readonly source: string;
  readonly platform: string;
  readonly reason: string;
  readonly why: string;
  readonly reply: string | null;
  /** `4xx` for a temporary refusal, otherwise the name of the error; null without an error. */
  readonly error_class: string | null;
  readonly codes: number;
  readonly wrong_attempts: number;
};
export const lost = get<{
  readonly lost: readonly Lost[];
  readonly open: number;
  readonly next: string | null;
  /** Says which requests of the period were deleted. */
  readonly note: string | null;
}>()(
  '/api/lost',
  'read',
  z.object({
    from: z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/)),
    to: z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/)),
    after: z.optional(z.string()),
  }),
);
