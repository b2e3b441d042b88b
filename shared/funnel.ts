// Steps of the funnel that no other table holds. The server counts `seen`; the browser reports the others.

export const READ_STEPS = ['quarter', 'half', 'three-quarters', 'whole'] as const;
export type ReadStep = (typeof READ_STEPS)[number];

export const REPORTED_STEPS = ['opened', ...READ_STEPS] as const;
export type ReportedStep = (typeof REPORTED_STEPS)[number];

export type FunnelStep = 'seen' | ReportedStep;

/** Sent by the page when a browser sees its first variant, because only the browser knows. */
export const FIRST_SEEN = 'first-seen';
export type VariantStep = typeof FIRST_SEEN;

export type CountedStep = 'seen' | 'opened' | 'asked' | 'entered';
