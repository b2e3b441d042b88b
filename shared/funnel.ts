// The counted steps from the page to the end of the article that no other table shows. The request for the page counts as the
// first step; the browser reports the others.

/** How far the article was read: a quarter, half, three quarters, to its end. */
export const READ_STEPS = ['quarter', 'half', 'three-quarters', 'whole'] as const;
export type ReadStep = (typeof READ_STEPS)[number];

/** The steps that a browser reports: the form was opened, or a part of the article was read. */
export const REPORTED_STEPS = ['opened', ...READ_STEPS] as const;
export type ReportedStep = (typeof REPORTED_STEPS)[number];

/** `seen`: the page was asked for. */
export type FunnelStep = 'seen' | ReportedStep;

/** A browser saw one of several pages, and no other of them before. The page reports it, because only the browser knows. */
export const FIRST_SEEN = 'first-seen';
export type VariantStep = typeof FIRST_SEEN;

/** The steps that a visit counter receives, if the campaign has one: the page was seen, the form opened, a code asked for, a code entered. */
export type CountedStep = 'seen' | 'opened' | 'asked' | 'entered';
