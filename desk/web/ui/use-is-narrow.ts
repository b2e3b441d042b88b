// Whether the screen is too narrow for a table: rows become blocks then (table.tsx).
import { useSyncExternalStore } from 'react';

const narrow = matchMedia('(max-width: 47.99rem)');

function subscribe(listener: () => void): () => void {
  narrow.addEventListener('change', listener);
  return () => narrow.removeEventListener('change', listener);
}

export const useIsNarrow = (): boolean => useSyncExternalStore(subscribe, () => narrow.matches);
