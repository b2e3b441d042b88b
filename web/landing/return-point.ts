// Where the landing page was left for the form. It is kept in the browser's history entry, so that Back finds it there, after
// a reload as well.

/** A call to action: one of the two in the page, the film, which ends in one, or the bar at the lower edge. */
export type Action = 'hero' | 'film' | 'bar' | 'closing';

export type PlaceLeft = {
  /** The call to action that was pressed. */
  readonly action: Action;
  /** How far below the top of the screen it stood; the bar's is its place in the page. CSS pixels. */
  readonly top: number;
};

/** Whether a button of the prerendered page is a call to action: their names are those of actions. */
export const isAction = (name: string | undefined): name is Action => name === 'hero' || name === 'closing';

/** Keeps the place in the landing page's own entry; to be called before another one is added. */
export function keepPlace(place: PlaceLeft): void {
  history.replaceState({ ...(history.state as object | null), left: place }, '');
}

/** The place in an entry's state, or null where none was kept. */
export function placeIn(state: unknown): PlaceLeft | null {
  return typeof state === 'object' && state !== null && 'left' in state ? (state.left as PlaceLeft) : null;
}
