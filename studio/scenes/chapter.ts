// Lays out the fan of a chapter's figure: as many cards as it has, one under the other.
import { layFan } from './fan.ts';

const sheaf = document.querySelector<SVGElement>('#sheaf');
if (sheaf === null) throw new Error('The figure has no sheaf.');
const cards = Array.from(document.querySelectorAll<HTMLElement>('.index-card'));
const middle = (cards.length - 1) / 2;
const gap = 248 / cards.length;
// Air between five of them, too.
const cardHeight = Math.min(46, gap - 12);
document.body.style.setProperty('--height', `${cardHeight}px`);

layFan(
  {
    cards: cards.map((_, index) => ({
      x: 137 - Math.abs(index - middle) * 3,
      y: 140 + (index - middle) * gap,
      angle: (middle - index) * 1.6,
    })),
    cardWidth: 214,
    cardHeight,
    gather: { x: 388, y: 140 },
    tail: 48,
  },
  cards,
  sheaf,
);
