// The fan of index cards and the sheaf of fine lines that gathers what they hold: in the hero and in the film.

type Place = {
  /** The centre of the card. */
  readonly x: number;
  readonly y: number;
  /** Degrees, clockwise. */
  readonly angle: number;
};

export type Fan = {
  readonly cards: readonly Place[];
  readonly cardWidth: number;
  readonly cardHeight: number;
  /** Where the strands have met and run level. */
  readonly gather: { readonly x: number; readonly y: number };
  /** How far the strands run on side by side, after they have met. */
  readonly tail?: number;
};

const strandsPerCard = 5;
const strands = Array.from({ length: strandsPerCard }, (_, strand) => strand - (strandsPerCard - 1) / 2);

/** Five strands for each card, from its edge to the knot, which stay in order and never cross. */
function sheafPaths(fan: Fan): string[][] {
  const { gather } = fan;
  const middle = (fan.cards.length - 1) / 2;
  const edgeGap = fan.cardHeight / 8;
  const knotGap = fan.cardHeight / 56;
  const reach = fan.cardWidth * 0.28;
  return fan.cards.map((card, index) =>
    strands.map((strand) => {
      const turn = (card.angle * Math.PI) / 180;
      const along = { x: Math.cos(turn), y: Math.sin(turn) };
      const offset = strand * edgeGap;
      const startX = card.x + (along.x * fan.cardWidth) / 2 - along.y * offset;
      const startY = card.y + (along.y * fan.cardWidth) / 2 + along.x * offset;
      const endY = gather.y + ((index - middle) * strandsPerCard + strand) * knotGap;
      const points = [
        [startX + along.x * reach, startY + along.y * reach],
        [gather.x - reach * 1.15, endY],
        [gather.x - reach * 0.12, endY],
      ];
      const curve = points.map((point) => point.map((value) => value.toFixed(2)).join(' ')).join(' ');
      return `M${startX.toFixed(2)} ${startY.toFixed(2)}C${curve}H${gather.x + (fan.tail ?? 0)}`;
    }),
  );
}

/** Lays the cards where the fan has them, and draws the sheaf: one group of strands for each card. */
export function layFan(fan: Fan, cards: readonly HTMLElement[], sheaf: SVGElement): void {
  const paths = sheafPaths(fan);
  for (const [index, place] of fan.cards.entries()) {
    const card = cards[index];
    if (card === undefined) throw new Error(`The fan has no card number ${index + 1}.`);
    card.style.left = `${place.x - fan.cardWidth / 2}px`;
    card.style.top = `${place.y - fan.cardHeight / 2}px`;
    card.style.rotate = `${place.angle}deg`;

    const group = document.createElementNS('http://www.w3.org/2000/svg', 'g');
    for (const d of paths[index] ?? []) {
      const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
      path.setAttribute('d', d);
      path.setAttribute('pathLength', '1');
      group.append(path);
    }
    sheaf.append(group);
  }
}
