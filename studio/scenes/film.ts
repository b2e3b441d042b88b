// What moves in the film, and when. Every number is in seconds from its beginning.

import { layFan, type Fan } from './fan.ts';
import { all, apply, draw, glide, move, moveEach } from './timeline.ts';

type Film = {
  readonly seconds: number;
  /** Shows one moment; the answer changes whenever the picture does. */
  readonly seek: (seconds: number) => string;
};

declare global {
  var film: Film;
}

const seconds = 41.6;
const chapters = { structure: 3.8, drivers: 17.4, delivery: 27.2, results: 32.6, end: 38.2 } as const;
const deal = 0.9;

// Each frame is dealt over the one before, which gives way a little.
const frames = [
  { selector: '#title', start: 0 },
  ...Object.entries(chapters).map(([name, start]) => ({ selector: `#${name}`, start })),
];
for (const [index, frame] of frames.entries()) {
  if (index > 0) move(frame.selector, { at: frame.start, for: deal, y: [760, 0], ease: glide });
  const next = frames[index + 1];
  if (next !== undefined) move(frame.selector, { at: next.start, for: deal, y: [0, -90], ease: glide });
}

/** The words of a frame come in line by line. */
function riseLines(frame: string, at: number): void {
  moveEach(`${frame} .line`, 0.12, { at, for: 0.9, y: [26, 0], opacity: [0, 1] });
}

function layFilmFan(frame: string, fan: Fan): void {
  const sheaf = document.querySelector<SVGElement>(`${frame} .sheaf`);
  if (sheaf === null) throw new Error(`${frame} has no sheaf.`);
  layFan(fan, Array.from(document.querySelectorAll<HTMLElement>(`${frame} .index-card`)), sheaf);
}

function drawSheaf(frame: string, at: number, length: number): void {
  for (const [index, group] of all(`${frame} .sheaf g`).entries()) {
    for (const [strand, path] of Array.from(group.querySelectorAll('path')).entries()) {
      move(path, { at: at + index * 0.12 + strand * 0.03, for: length, ink: [0, 1], ease: draw });
    }
  }
}

// Title: the strands come in from the left, and the letter rises out of its envelope.
{
  const sheaf = document.querySelector<SVGElement>('#title .sheaf');
  if (sheaf === null) throw new Error('The title has no sheaf.');
  const strands = Array.from({ length: 13 }, (_, index) => index - 6);
  sheaf.innerHTML = strands
    .map((strand) => {
      const far = 452.5 + strand * 15;
      // Whole pixels apart, so that the level lines are crisp.
      const near = 452.5 + strand * 4;
      return `<path pathLength="1" d="M-20 ${far}C40 ${far} 30 ${near} 110 ${near}H860" />`;
    })
    .join('');
  move('#title .sheaf path', { at: 0.1, for: 1.8, ink: [0, 1], ease: draw });
  riseLines('#title', 0.1);
  move('#title .letter', { at: 0.7, for: 1.5, y: [150, 0] });
  move('#title .letter svg', { at: 1.5, for: 1.3, reveal: [0, 1], ease: draw });
}

// One: five cards are read and put into the fan; what they hold flows into the prompt.
{
  const start = chapters.structure;
  const fan: Fan = {
    cards: [
      { x: 158, y: 84, angle: 6 },
      { x: 166, y: 189, angle: 3 },
      { x: 168, y: 294, angle: 0 },
      { x: 166, y: 399, angle: -3 },
      { x: 158, y: 504, angle: -6 },
    ],
    cardWidth: 250,
    cardHeight: 96,
    gather: { x: 406, y: 294 },
  };
  layFilmFan('#structure', fan);
  riseLines('#structure', start + 0.4);

  const read = 1.5;
  const desk = { x: 556, y: 294, scale: 2 };
  for (const [index, card] of all('#structure .index-card').entries()) {
    const place = fan.cards[index];
    if (place === undefined) continue;
    const at = start + 0.8 + index * read;
    const away = { x: desk.x - place.x, y: desk.y - place.y };
    move(card, {
      at,
      for: 0.6,
      x: [away.x + 640, away.x],
      y: [away.y + 40, away.y],
      scale: [desk.scale, desk.scale],
      rotate: [6, 0],
    });
    const leave = { at: at + read - 0.05, for: 0.75, ease: glide };
    move(card, {
      ...leave,
      x: [away.x, 0],
      y: [away.y, 0],
      scale: [desk.scale, 1],
      rotate: [0, place.angle],
    });
    const words = card.querySelector('p');
    if (words !== null) move(words, { at: leave.at, for: 0.35, opacity: [1, 0] });
  }

  const prompt = start + 0.8 + 5 * read + 0.5;
  drawSheaf('#structure', prompt, 1);
  move('#structure .prompt', { at: prompt, for: 0.9, x: [520, 0] });
  moveEach('#structure .prompt .name', 0.48, { at: prompt + 1, for: 0.6, reveal: [0, 1], ease: draw });
}

// Two: one offer, turned over into four letters.
{
  const start = chapters.drivers;
  riseLines('#drivers', start + 0.4);
  move('#drivers .offer', { at: start + 0.3, for: 0.1, y: [190, 190], scale: [1.5, 1.5] });
  move('#drivers .offer', { at: start + 2.1, for: 0.8, y: [190, 0], scale: [1.5, 1], ease: glide });
  const columns = [26, 426];
  const rows = [174, 374];
  for (const [index, card] of all('#drivers .persona').entries()) {
    const left = columns[index % 2] ?? 0;
    const top = rows[Math.floor(index / 2)] ?? 0;
    card.style.left = `${left}px`;
    card.style.top = `${top}px`;
    // Each comes out from below the offer, and from below the cards that lie there already.
    card.style.zIndex = `${4 - index}`;
    const at = start + 2.7 + index * 1.25;
    move(card, {
      at,
      for: 0.75,
      x: [412 - left - 186, 0],
      y: [97 - top - 88, 0],
      turn: [84, 0],
      ease: glide,
    });
    move(card, { at: at + 0.1, for: 0.25, opacity: [0, 1] });
    const branch = all('#drivers .branch')[index];
    if (branch !== undefined) move(branch, { at, for: 0.7, ink: [0, 1], ease: draw });
    const words = card.querySelector('p');
    if (words !== null) move(words, { at: at + 0.6, for: 0.6, reveal: [0, 1], ease: draw });
  }
}

// Three, first half: the domain is set up, then warmed.
{
  const start = chapters.delivery;
  riseLines('#delivery', start + 0.4);
  moveEach('#delivery .domain path', 0.5, { at: start + 1.2, for: 0.45, ink: [0, 1], ease: draw });
  const warm = start + 2.2;
  move('#delivery .warming', { at: warm - 0.3, for: 0.9, x: [470, 0], rotate: [4, 0] });
  move('#delivery .curve', { at: warm + 0.4, for: 1.5, ink: [0, 1], ease: draw });
  moveEach('#delivery .amount', 0.45, { at: warm + 0.4, for: 0.4, opacity: [0, 1] });
}

// Three, second half: the rate that the rounds of refinement reach.
{
  const start = chapters.results;
  riseLines('#results', start + 0.4);
  const rounds = start + 1.1;
  move('#rate', { at: rounds, for: 2.2, count: [3.2, 11.4], ease: draw });
  move('#results .curve', { at: rounds, for: 2.2, ink: [0, 1], ease: draw });
  moveEach('#results .round', 0.42, { at: rounds, for: 0.3, opacity: [0, 1] });
  move('#results .rate .before', { at: rounds + 0.5, for: 0.7, opacity: [0, 1] });
  move('#results .roi', { at: rounds + 1.9, for: 0.9, y: [26, 0], opacity: [0, 1] });
}

// End: the guide itself.
{
  const start = chapters.end;
  riseLines('#end', start + 0.4);
  move('#end .cover', { at: start + 0.5, for: 1.3, y: [420, 0], rotate: [7, 2.5] });
}

/** A frame that is covered, or not dealt yet, is left out of the layout altogether. */
function showFrames(now: number): void {
  for (const [index, frame] of frames.entries()) {
    const until = (frames[index + 1]?.start ?? Number.POSITIVE_INFINITY) + deal;
    for (const element of all(frame.selector)) {
      element.style.display = now >= frame.start && now <= until ? 'block' : 'none';
    }
  }
}

globalThis.film = {
  seconds,
  seek: (now) => {
    showFrames(now);
    return apply(now);
  },
};
