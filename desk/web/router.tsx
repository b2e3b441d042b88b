import { useSyncExternalStore, type ComponentProps } from 'react';

export type DeskLocation = { readonly path: string; readonly query: URLSearchParams };

const listeners = new Set<() => void>();
let navigated = false;

const notify = (): void => {
  for (const listener of listeners) listener();
};
addEventListener('popstate', () => {
  navigated = true;
  notify();
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const currentUrl = (): string => location.pathname + location.search;

export function useLocation(): DeskLocation {
  const [path = '', query = ''] = useSyncExternalStore(subscribe, currentUrl).split(/\?(.*)/s);
  return { path, query: new URLSearchParams(query) };
}

export function navigate(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const isOtherPage = new URL(to, location.href).pathname !== location.pathname;
  history[replace ? 'replaceState' : 'pushState'](null, '', to);
  navigated ||= isOtherPage;
  if (isOtherPage) scrollTo(0, 0);
  notify();
}

/** Returns true after client-side navigation, which browsers do not announce. */
export const hasNavigated = (): boolean => navigated;

/** For a page that replaces another one at the same URL. */
export function setNavigated(): void {
  navigated = true;
}

export function Link({ href, onClick, children, ...props }: ComponentProps<'a'> & { readonly href: string }) {
  return (
    <a
      href={href}
      {...props}
      onClick={(event) => {
        onClick?.(event);
        const isPlain =
          event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
        if (event.defaultPrevented || !isPlain) return;
        event.preventDefault();
        navigate(href);
      }}
    >
      {children}
    </a>
  );
}
