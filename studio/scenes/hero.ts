// Lays out the fan of the hero picture.

import { layFan } from './fan.ts';

const sheaf = document.querySelector<SVGElement>('#sheaf');
if (sheaf === null) throw new Error('The hero has no sheaf.');

layFan(
  {
    cards: [
      { x: 99, y: 78, angle: 9 },
      { x: 105, y: 167, angle: 4.6 },
      { x: 107, y: 256, angle: 0 },
      { x: 105, y: 345, angle: -4.6 },
      { x: 99, y: 434, angle: -9 },
    ],
    cardWidth: 140,
    cardHeight: 64,
    gather: { x: 250, y: 256 },
  },
  Array.from(document.querySelectorAll<HTMLElement>('.index-card')),
  sheaf,
);
