import type { DrawnPath } from '#shared/drawings.ts';

/** The envelope of drawings.ts, closed. In its own file, because the first view does not need it. */
export const CLOSED_ENVELOPE: readonly DrawnPath[] = [
  ['M11 65h178q5 0 5 5v118q0 5-5 5H11q-5 0-5-5V70q0-5 5-5z', '#f2e8d2', '#d3c5a0'],
  ['M7.5 66.5q1.5-1.5 3.5-1.5h178q2 0 3.5 1.5L112 128q-12 8-24 0z', '#ebdfc3', '#d3c5a0'],
  ['M100 115a11 11 0 1 0 .01 0z', '#0e5a43'],
];
