/** The logo as two lines, on a grid of 26 by 20. */
export const MARK_LINES = ['M1.5 4.5v12a2 2 0 0 0 2 2h19a2 2 0 0 0 2-2v-12', 'M1.5 4.5l8.5 8 14-11'] as const;

export type DrawnPath = readonly [path: string, fill: string, stroke?: string, strokeWidth?: number];

/** A letter in an open envelope, on a grid of 200 by 200. Cream in both themes, like paper. */
export const ENVELOPE: readonly DrawnPath[] = [
  ['M6 88 94 24q6-4 12 0l88 64-94 62z', '#d9cba8'],
  ['M36.1 18.2 151.9 10.1 161.3 145.8 45.6 153.9z', '#fffdf8', '#e2dccd'],
  ['M53.5 37.1l39.9-2.8', 'none', '#123d30', 3],
  ['M54.7 55l83.8-5.8M55.7 69l83.8-5.8M56.7 83l83.8-5.9M57.7 96.9l57.8-4', 'none', '#e2dccd', 3],
  ['M6 88 100 150 194 88v100q0 5-5 5H11q-5 0-5-5z', '#f2e8d2', '#d3c5a0'],
  ['M8.5 192.3 86 134q14-10 28 0l77.5 58.3q-1 .7-2.5 .7H11q-1.5 0-2.5-.7z', '#ebdfc3', '#d3c5a0'],
  ['M100 138a11 11 0 1 0 .01 0z', '#0e5a43'],
];

/** The logo for large sizes, on a grid of 16 by 16. */
export const MARK_SHAPES =
  'M1 5.2 6.3 9.9q.8.7 1.55-.05L15 2.7v10.1q0 1.2-1.2 1.2H2.2Q1 14 1 12.8zM2.3 3h8.6L7 6.9q-.3.25-.6 0z';
