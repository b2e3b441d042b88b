// Keeps the scroll position in the history entry, so Back restores it even after a reload.

export type Action = 'hero' | 'film' | 'bar' | 'closing';

export type PlaceLeft = {
  readonly action: Action;
  /** CSS pixels from the top of the screen to the action, or to the place of the bar in the page. */
  readonly top: number;
};

export const isAction = (name: string | undefined): name is Action => name === 'hero' || name === 'closing';

/** Call this before adding another history entry. */
export function keepPlace(place: PlaceLeft): void {
  history.replaceState({ ...(history.state as object | null), left: place }, '');
}

export function placeIn(state: unknown): PlaceLeft | null {
  return typeof state === 'object' && state !== null && 'left' in state ? (state.left as PlaceLeft) : null;
}
