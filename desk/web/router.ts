// Where the reader is: the path and the query of the address bar, on the History API. Knows no page.
import { useSyncExternalStore } from 'react';

export type Place = { readonly path: string; readonly query: URLSearchParams };

const listeners = new Set<() => void>();
let moved = false;

const notify = (): void => {
  for (const listener of listeners) listener();
};
addEventListener('popstate', () => {
  moved = true;
  notify();
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const address = (): string => location.pathname + location.search;

/** The place that the address bar shows; renders again when it changes. */
export function usePlace(): Place {
  const [path = '', query = ''] = useSyncExternalStore(subscribe, address).split(/\?(.*)/s);
  return { path, query: new URLSearchParams(query) };
}

/**
 * Goes to another place of the desk.
 * @param to path and query
 * @param replace whether Back leads past the place that is left, as while a search is typed
 */
export function go(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const isOtherPage = new URL(to, location.href).pathname !== location.pathname;
  history[replace ? 'replaceState' : 'pushState'](null, '', to);
  moved ||= isOtherPage;
  if (isOtherPage) scrollTo(0, 0);
  notify();
}

/** Whether the reader has gone from one page to another, and the browser has not told a screen reader of it. */
export const hasMoved = (): boolean => moved;
