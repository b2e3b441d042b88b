// What is counted on the way from the page to the end of the article, and is in no other table. The page's own request tells of
// the first step; the browser tells of the others.

/** How far the article was read: a quarter, half, three quarters, to its end. */
export const READ_STEPS = ['quarter', 'half', 'three-quarters', 'whole'] as const;
export type ReadStep = (typeof READ_STEPS)[number];

/** What a browser tells: the form was opened, or a part of the article was read. */
export const TOLD_STEPS = ['opened', ...READ_STEPS] as const;
export type ToldStep = (typeof TOLD_STEPS)[number];

/** `seen`: the page was asked for. */
export type FunnelStep = 'seen' | ToldStep;
