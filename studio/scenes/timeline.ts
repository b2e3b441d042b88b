// A timeline without a clock: motions are declared once, and `apply` puts every element where it is at a given
// second. The same second always gives the same picture.

type Ease = (progress: number) => number;

/** Objects that leave one place for another. */
export const glide: Ease = (progress) =>
  progress < 0.5 ? 4 * progress ** 3 : 1 - (2 - 2 * progress) ** 3 / 2;
/** Objects that come in and settle. */
const settle: Ease = (progress) => 1 - (1 - progress) ** 4;
/** Lines that a pen draws. */
export const draw: Ease = (progress) => (1 - Math.cos(Math.PI * progress)) / 2;

type Span = readonly [from: number, to: number];

type Properties = {
  readonly x: Span;
  readonly y: Span;
  readonly scale: Span;
  readonly rotate: Span;
  /** Degrees around the upright axis, as a card is turned over. */
  readonly turn: Span;
  readonly opacity: Span;
  /** How much is uncovered, from the left: 0 to 1. */
  readonly reveal: Span;
  /** How much of a line is drawn: 0 to 1. */
  readonly ink: Span;
  /** A number shown as text, with one decimal. */
  readonly count: Span;
};

type Property = keyof Properties;

type Motion = Partial<Properties> & {
  readonly at: number;
  readonly for: number;
  readonly ease?: Ease;
};

type Step = {
  readonly start: number;
  readonly end: number;
  readonly span: Span;
  readonly ease: Ease;
};

type Shown = HTMLElement | SVGElement;

const properties = [
  'x',
  'y',
  'scale',
  'rotate',
  'turn',
  'opacity',
  'reveal',
  'ink',
  'count',
] as const satisfies readonly Property[];

const tracks = new Map<Shown, Map<Property, Step[]>>();

export function all(selector: string): Shown[] {
  const found = Array.from(document.querySelectorAll<Shown>(selector));
  if (found.length === 0) throw new Error(`Nothing in the scene matches ${selector}.`);
  return found;
}

/** Declares a motion. The motions of one property of one element are declared in the order in which they happen. */
export function move(target: string | Shown, motion: Motion): void {
  for (const element of typeof target === 'string' ? all(target) : [target]) {
    const track = tracks.get(element) ?? new Map<Property, Step[]>();
    tracks.set(element, track);
    for (const property of properties) {
      const span = motion[property];
      if (span === undefined) continue;
      const steps = track.get(property) ?? [];
      track.set(property, steps);
      steps.push({ start: motion.at, end: motion.at + motion.for, span, ease: motion.ease ?? settle });
    }
  }
}

/** The same motion for several elements, one after the other. */
export function moveEach(selector: string, gap: number, motion: Motion): void {
  for (const [index, element] of all(selector).entries()) {
    move(element, { ...motion, at: motion.at + index * gap });
  }
}

function valueAt(steps: readonly Step[], seconds: number): number {
  const current = steps.findLast((step) => step.start <= seconds) ?? steps[0];
  if (current === undefined) throw new Error('A track has no steps.');
  const length = current.end - current.start;
  const progress = length === 0 ? Number(seconds >= current.start) : (seconds - current.start) / length;
  const [from, to] = current.span;
  return from + (to - from) * current.ease(Math.min(1, Math.max(0, progress)));
}

function show(element: Shown, property: Property, value: number): void {
  const { style } = element;
  switch (property) {
    case 'x':
      style.setProperty('--x', `${value.toFixed(2)}px`);
      break;
    case 'y':
      style.setProperty('--y', `${value.toFixed(2)}px`);
      break;
    case 'scale':
      style.scale = value.toFixed(4);
      break;
    case 'rotate':
      style.rotate = `${value.toFixed(3)}deg`;
      break;
    case 'turn':
      style.transform = `perspective(1400px) rotateY(${value.toFixed(2)}deg)`;
      break;
    case 'opacity':
      style.opacity = value.toFixed(3);
      break;
    case 'reveal':
      // Room above and below for letters that reach out of their line.
      style.clipPath = value >= 1 ? 'none' : `inset(-20% ${((1 - value) * 100).toFixed(2)}% -20% -2%)`;
      break;
    case 'ink':
      style.visibility = value <= 0 ? 'hidden' : 'visible';
      style.strokeDasharray = value >= 1 ? 'none' : `${value.toFixed(4)} 2`;
      break;
    case 'count':
      element.textContent = value.toFixed(1);
      break;
  }
}

/** Puts everything where it is at this second, and returns a description that changes whenever the picture does. */
export function apply(seconds: number): string {
  let description = '';
  for (const [element, track] of tracks) {
    for (const [property, steps] of track) {
      const value = valueAt(steps, seconds);
      show(element, property, value);
      description += `${value.toFixed(3)} `;
    }
    if (track.has('x') || track.has('y')) element.style.translate = 'var(--x, 0px) var(--y, 0px)';
  }
  return description;
}
