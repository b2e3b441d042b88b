// The only script that runs before a visitor does anything; it stands inline in the page's head. It sets the theme
// before the first paint, and loads the application at the first sign of intent. That first click, key or hover is
// kept and given to the application once it is there, so it is never lost.
import { readTheme, showTheme } from '#web/theme/theme.ts';

type AppModule = { readonly start: () => Promise<void> };

const root = document.documentElement;
const APP_URL = document.currentScript?.dataset['app'] ?? '';
showTheme(
  root,
  readTheme(() => localStorage),
);

let started: Promise<void> | null = null;
/** The newest of each kind, to be repeated. A click may have hit an element that hydration replaces. */
let click: { readonly target: HTMLElement; readonly index: number } | null = null;
let hover: PointerEvent | null = null;
let key: KeyboardEvent | null = null;

const CLICKABLE = 'button, a[href="/"]';
const RETRY_DELAYS_MS = [500, 2000];

const load = async (attempt = 0): Promise<AppModule> => {
  try {
    // Browsers remember that a module failed to load; another address makes them try again.
    return (await import(
      /* @vite-ignore */ attempt === 0 ? APP_URL : `${APP_URL}?retry=${attempt}`
    )) as AppModule;
  } catch (error) {
    const delay = RETRY_DELAYS_MS[attempt];
    if (delay === undefined) throw error;
    await new Promise((resolve) => setTimeout(resolve, delay));
    return load(attempt + 1);
  }
};

const begin = (): void => {
  started ??= load()
    .then((app) => app.start())
    .then(repeat, fail);
};

const repeat = (): void => {
  for (const type of INTENTS) document.removeEventListener(type, onIntent, true);
  document.removeEventListener('click', onClick, true);
  if (hover?.target instanceof Element) {
    hover.target.dispatchEvent(
      new PointerEvent('pointermove', { bubbles: true, pointerType: hover.pointerType }),
    );
  }
  if (document.activeElement !== document.body) {
    document.activeElement?.dispatchEvent(new FocusEvent('focusin', { bubbles: true }));
  }
  if (key) document.dispatchEvent(new KeyboardEvent('keydown', key));
  if (click) {
    const target = click.target.isConnected
      ? click.target
      : document.querySelectorAll<HTMLElement>(CLICKABLE)[click.index];
    target?.click();
  }
};

const fail = (): void => {
  started = null;
  click = null;
  const notice = document.getElementById('load-failure');
  if (notice) notice.hidden = false;
};

const onIntent = (event: Event): void => {
  if (event instanceof PointerEvent) hover = event;
  if (event instanceof KeyboardEvent && event.key === 'F8') key = event;
  begin();
};

const onClick = (event: MouseEvent): void => {
  const target = event.target instanceof Element ? event.target.closest<HTMLElement>('button') : null;
  if (target === null || target.closest('#load-failure')) return;
  event.preventDefault();
  event.stopPropagation();
  click = { target, index: Array.from(document.querySelectorAll(CLICKABLE)).indexOf(target) };
  begin();
};

const INTENTS = ['pointerdown', 'pointermove', 'keydown', 'focusin'] as const;
for (const type of INTENTS) document.addEventListener(type, onIntent, { capture: true, passive: true });
document.addEventListener('click', onClick, true);

const { stage } = (history.state ?? {}) as { readonly stage?: unknown };
if (stage === undefined || stage === 'landing') {
  // After everything the first view needs; the application is then in the cache when it is wanted.
  window.addEventListener('load', () => {
    const link = document.createElement('link');
    link.rel = 'prefetch';
    link.href = APP_URL;
    document.head.append(link);
  });
} else {
  // A reload of a later stage: the prerendered landing page stays hidden (document.ts) until that stage is back.
  root.dataset['restoring'] = '';
  document.addEventListener('DOMContentLoaded', begin);
}
