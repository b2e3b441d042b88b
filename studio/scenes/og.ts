// Lays out the fan of the Open Graph picture; its sheaf runs on below the headline, into the letter.

import { layFan } from './fan.ts';

const sheaf = document.querySelector<SVGElement>('#sheaf');
if (sheaf === null) throw new Error('The picture has no sheaf.');

layFan(
  {
    cards: [
      { x: 138, y: 92, angle: 8 },
      { x: 146, y: 204, angle: 4.2 },
      { x: 149, y: 315, angle: 0 },
      { x: 146, y: 426, angle: -4.2 },
      { x: 138, y: 538, angle: -8 },
    ],
    cardWidth: 206,
    cardHeight: 92,
    gather: { x: 366, y: 380 },
    tail: 580,
  },
  Array.from(document.querySelectorAll<HTMLElement>('.index-card')),
  sheaf,
);
