// Leads and other people: finding, reading, exporting and changing them.
import * as z from 'zod/mini';

import { get, oneLine, post } from '#desk/endpoints/endpoint.ts';

export const STATES = ['verified', 'suppressed', 'unverified', 'imported'] as const;
export type State = (typeof STATES)[number];

/** Which people. It stands in the address of the page as well, so a list can be bookmarked. */
export const Filter = z.object({
  state: z._default(z.enum(STATES), 'verified'),
  /** A part of address, name or company. */
  search: z.optional(z.string().check(z.maxLength(200))),
  source: z.optional(z.string()),
  flag: z.optional(z.string()),
  /** Part of an answer to a question of the campaign's own: the question's id, and the text. */
  field: z.optional(z.string()),
  answer: z.optional(z.string()),
  /** The part of the address after the @. */
  domain: z.optional(z.string()),
  /** First and last day (2026-11-23, UTC, both included) of their `since`. */
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

/**
 * People, the newest first. The server looks for some 150 ms and answers with what it has found by then: a page can be short or empty while
 * `next` says where to go on.
 */
export type PeoplePage = {
  readonly people: readonly Person[];
  /** What to ask for as `after`; null at the end. */
  readonly next: string | null;
  /** Everything newer than this was looked at; null at the end. */
  readonly lookedBackTo: string | null;
};
export const people = get<PeoplePage>()({
  path: '/api/people',
  needs: 'read',
  asked: z.extend(Filter, { after: z.optional(z.string()) }),
});

/** How many leads each company's domain has, a part of all leads at a time: the sums of all answers count. */
export const domains = get<{
  readonly domains: readonly { readonly domain: string; readonly people: number }[];
  readonly next: string | null;
}>()({ path: '/api/domains', needs: 'read', asked: z.object({ after: z.optional(z.string()) }) });

/** What the filters can choose from. */
export const choices = get<{
  /** The largest first, at most 100. */
  readonly sources: readonly string[];
  readonly flags: readonly string[];
  readonly formats: readonly {
    readonly name: string;
    readonly about: string;
    readonly takesEveryState: boolean;
  }[];
}>()({ path: '/api/choices', needs: 'read', asked: z.object({}) });

/** The people of a filter as a file, streamed. Not JSON: `EXPORT_PATH?format=csv&state=verified&…`, for the role `all`. */
export const EXPORT_PATH = '/api/export';
/** Header of that answer: how many people there are at most, for a progress bar. */
export const PEOPLE_HEADER = 'x-people-at-most';

/** Something that happened to a person. `kind` chooses its sign in the timeline. */
export type Happening = {
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
  readonly details: Readonly<Record<string, string>>;
};

export type Story = {
  readonly person: Person;
  readonly happenings: readonly Happening[];
  readonly consent: {
    readonly text: string;
    readonly givenAt: string | null;
    readonly version: string | null;
  } | null;
  /** Why the address gets no mail; `canUndo`: as a slip, with a reason. */
  readonly suppressions: readonly {
    readonly reason: string;
    readonly since: string;
    readonly note: string | null;
    readonly canUndo: boolean;
  }[];
  readonly canSendGuide: boolean;
};

const WHO = { id: z.string() };

/** @param id of a lead, an imported person, or a form that was never verified. 404 `not-found` */
export const story = get<Story>()({ path: '/api/person', needs: 'read', asked: z.object(WHO) });

/** The proof of consent as a page to print. Not JSON: `PROOF_PATH?id=…`. */
export const PROOF_PATH = '/api/person/proof';

const Changed = {} as Record<string, never>;
export const correct = post<typeof Changed>()({
  path: '/api/person/correct',
  needs: 'all',
  asked: z.object({
    ...WHO,
    name: z.optional(z.string()),
    company: z.optional(z.string()),
    /** By the question's id; empty takes the answer away. */
    answers: z.optional(z.record(z.string(), z.string())),
  }),
});
/** @returns how many rows went, in words */
export const erase = post<{ readonly erased: string }>()({
  path: '/api/person/erase',
  needs: 'all',
  /** The address, typed again: what is erased does not come back. */
  asked: z.object({ ...WHO, email: z.string() }),
});
export const suppress = post<typeof Changed>()({
  path: '/api/person/suppress',
  needs: 'all',
  asked: z.object({
    ...WHO,
    reason: z.enum(['by-hand', 'unsubscribed', 'complained', 'bounced']),
    note: z.optional(z.string().check(oneLine, z.maxLength(500))),
  }),
});
/** Undoes a slip. The reason stands in the chain of consents. The answer says whether the address still gets no mail, for another one. */
export const unsuppress = post<{ readonly staysStopped: boolean }>()({
  path: '/api/person/unsuppress',
  needs: 'all',
  asked: z.object({ ...WHO, reason: z.string().check(oneLine, z.minLength(1), z.maxLength(500)) }),
});
export const sendGuide = post<typeof Changed>()({
  path: '/api/person/send-guide',
  needs: 'all',
  asked: z.object(WHO),
});

export type Lost = {
  /** Of the form, for {@link story}; null when the form is no longer kept. */
  readonly id: string | null;
  readonly askedAt: string;
  readonly email: string;
  readonly name: string;
  readonly company: string;
  readonly source: string;
  /** Who runs the mail of the domain, such as Microsoft 365. */
  readonly platform: string;
  readonly reason: string;
  /** The reason in words. */
  readonly why: string;
  /** What the mail server said to the newest mail. */
  readonly reply: string | null;
  readonly codes: number;
  readonly wrongTries: number;
};
/** People who asked for a code and never entered one, the newest first, of the days from `from` to `to`. */
export const lost = get<{
  readonly lost: readonly Lost[];
  readonly open: number;
  readonly next: string | null;
}>()({
  path: '/api/lost',
  needs: 'read',
  asked: z.object({
    from: z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/)),
    to: z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/)),
    after: z.optional(z.string()),
  }),
});
