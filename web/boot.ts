// The inline script in the page's head. It sets the theme, loads the application at the first sign of intent and replays earlier
// input. Every byte delays the first paint.
import { analytics, variants } from '#campaign/site.yaml';
import { resolveVariant, type VariantVisit } from '#web/keep-variant.ts';
import { readTheme, showTheme, toggleTheme } from '#web/theme/theme.ts';
import { lostState } from '#web/kept-entry.ts';
import { asksNotToBeCounted } from '#web/privacy-signals.ts';
import { SITE_PATH } from '#web/site-path.ts';

/** `start` returns true if it has handled the pressed button. */
type AppModule = { readonly start: (pressed?: HTMLButtonElement) => Promise<boolean> };

// Browsers refuse every fetch from a URL that contains a user name and password. Chromium hides them only in `location`.
if (document.URL !== location.href) location.replace(location.href);

const root = document.documentElement;
// The build writes these attributes. Code for variants or a visitor counter that the campaign lacks is removed by minification.
const {
  app: appUrl = '',
  later: secondFileUrl = '',
  display: displayUrl = '',
} = (document.currentScript as HTMLElement).dataset;
const variant = variants ? (document.currentScript as HTMLElement).dataset['variant'] : '';
const counterUrl = analytics ? (document.currentScript as HTMLElement).dataset['counter'] : '';
showTheme(root, readTheme());

const buttons = () => [...document.querySelectorAll('button')];
const buttonAt = ({ target }: Event) => (target instanceof Element ? target.closest('button') : null);
const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const TAP_PX = 15;
const CLICK_WITHIN_MS = 300;
/** If the browser fires a click, it comes within this time. */
const CLICK_AFTER_RELEASE_MS = 50;

// Which presses are repeated once the application runs:
// - A click on a prerendered button (`pressedIndex`). The application handles it (`start`), or replayInput clicks.
// - Hydration replaces the button between press and click, because a translation tool has rewritten the page. The browser then
//   sends the click to another element or to none. `unclicked` is the old button, and replayInput clicks the new one at
//   `unclickedIndex` after the release, unless a click arrives by itself.
// - Dragged off the button, cancelled, or without a click for CLICK_WITHIN_MS: nothing.
let started = false;
/** Empty at first, because the URL without it is preloaded. */
let query = '';
/** The button of the last click. An index, because hydration may replace the element after a translation tool has rewritten it. */
let pressedIndex = -1;
/** The pressed button until its click. */
let unclicked: HTMLButtonElement | null = null;
let unclickedIndex = -1;
let down: PointerEvent | null = null;
let released = false;
/** F8 focuses the toasts (ui/toaster.tsx). */
let shortcut: KeyboardEvent | null = null;

const INTENTS = ['click', 'pointerdown', 'pointermove', 'pointerup', 'pointercancel', 'keydown', 'focusin'];

/** Dragging the pointer off a button cancels the press (WCAG 2.2, 2.5.2). */
const isDragged = (up: Event): boolean =>
  up instanceof PointerEvent &&
  down !== null &&
  Math.hypot(up.clientX - down.clientX, up.clientY - down.clientY) > TAP_PX;

const onIntent = (event: Event): void => {
  const { type } = event;
  if (type === 'click') {
    const button = buttonAt(event);
    // If hydration has moved the page under the finger, the click reaches another element.
    if (button !== null || unclicked?.isConnected) unclicked = null;
    if (button === null) return;
    event.preventDefault();
    // After hydration has begun, React would handle it too.
    event.stopPropagation();
    // The header has only one button.
    if (button.closest('header')) toggleTheme(root);
    else {
      pressedIndex = buttons().indexOf(button);
      button.ariaBusy = 'true';
    }
  } else if (type === 'pointerup') {
    released = true;
    if (isDragged(event)) unclicked = null;
    // Without a click by then, there is nothing to repeat, unless hydration has replaced the button.
    setTimeout(() => (unclicked = released && unclicked?.isConnected ? null : unclicked), CLICK_WITHIN_MS);
  } else if (event instanceof PointerEvent && type !== 'pointermove') {
    // pointerdown or pointercancel
    released = false;
    down = event;
    unclicked = type === 'pointerdown' ? buttonAt(event) : null;
    unclickedIndex = unclicked ? buttons().indexOf(unclicked) : -1;
  } else if (event instanceof KeyboardEvent && event.key === 'F8') shortcut = event;
  if (!started) void begin();
};

const PATIENCE_MS = 10_000;
const showFailure = () => {
  const notice = document.getElementById('load-failure');
  if (notice === null) return;
  notice.hidden = false;
  // Following its link would lose the stage.
  notice.onclick = () => (location.reload(), false);
};

async function begin(): Promise<void> {
  started = true;
  const patience = setTimeout(showFailure, PATIENCE_MS);
  // Milliseconds after each failure.
  for (const pause of [500, 2000, 0]) {
    try {
      // The second file reads it (joinFiles in build/vite-bundles.ts).
      globalThis.appModule = import(/* @vite-ignore */ appUrl + query);
      const app = (await globalThis.appModule) as AppModule;
      if (await app.start(buttons()[pressedIndex])) pressedIndex = -1;
      clearTimeout(patience);
      replayInput();
      return;
    } catch {
      // Browsers remember a failed module by its URL, so each retry needs a new one.
      query += '?again';
      await wait(pause);
    }
  }
  clearTimeout(patience);
  started = false;
  pressedIndex = -1;
  for (const button of buttons()) button.ariaBusy = null;
  showFailure();
}

function replayInput(): void {
  for (const type of INTENTS) document.removeEventListener(type, onIntent, true);
  if (shortcut) document.dispatchEvent(shortcut);
  buttons()[pressedIndex]?.click();
  // If hydration replaced the button between press and click, the browser may not fire the click.
  if (unclicked?.isConnected === false) {
    let clicked = false;
    addEventListener('click', (event) => (clicked = buttonAt(event) !== null), { once: true, capture: true });
    const press = () =>
      setTimeout(() => clicked || buttons()[unclickedIndex]?.click(), CLICK_AFTER_RELEASE_MS);
    if (released) press();
    else addEventListener('pointerup', (event) => isDragged(event) || press(), { once: true });
  }
}

for (const type of INTENTS) document.addEventListener(type, onIntent, true);

const addLink = (rel: string, href: string): HTMLLinkElement => {
  const link = document.createElement('link');
  link.rel = rel;
  link.href = href;
  return document.head.appendChild(link);
};

/** The visitor counter waits for the fonts. */
const fontLoads: Promise<unknown>[] = [];

let visit: VariantVisit | '' = '';

const reportFirstSight = () => {
  if (visit === 'new' && !asksNotToBeCounted())
    fetch(`${SITE_PATH}/api/funnel`, {
      method: 'POST',
      credentials: 'omit',
      keepalive: true,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ step: 'first-seen', variant }),
    }).catch(() => {});
};

const loadTheRest = () => {
  if (variants) reportFirstSight();
  addLink('manifest', `${SITE_PATH}/site.webmanifest`);
  for (const [family, url] of [
    ['Newsreader', `${SITE_PATH}/fonts/newsreader.woff2`],
    ['Hanken Grotesk', `${SITE_PATH}/fonts/hanken-grotesk.woff2`],
    ['Display', displayUrl],
  ] as const) {
    const font = new FontFace(family, `url(${url})`, { weight: '400 600' });
    const loaded = font.load().then(
      () => {
        document.fonts.add(font);
        // landing/return-point.ts listens, and added faces fire no such event.
        return document.fonts.dispatchEvent(new Event('loadingdone'));
      },
      () => {},
    );
    if (analytics) fontLoads.push(loaded);
  }
  if (analytics && counterUrl)
    void Promise.all(fontLoads)
      .then(() => import(/* @vite-ignore */ counterUrl))
      .catch(() => {});
};

// Nothing else may delay the first view. The application comes before the fonts, because an early press waits for it.
const painted = new PerformanceObserver(() => {
  painted.disconnect();
  requestAnimationFrame(() =>
    requestAnimationFrame(() =>
      setTimeout(() => {
        const link = addLink('modulepreload', appUrl);
        link.onload = link.onerror = loadTheRest;
        // Safari 16 does not know modulepreload, so neither event would come.
        if (!link.relList.supports(link.rel)) loadTheRest();
      }),
    ),
  );
});
painted.observe({ type: 'paint', buffered: true });

// A lead who follows the link in the guide mail sees no landing page, so no variant.
if (variants && variant && location.hash !== '#guide') {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  visit = resolveVariant(variant, variants, navigation?.type === 'navigate' ? null : history.state);
  // Hides the page (base.css) until the other variant replaces it.
  if (visit === 'leaving') root.dataset['restoring'] = '';
}
// The history state of a new page, neither reloaded nor reached with Back. The last one that applies wins:
// - Arrived from another variant: the state there (resolveVariant).
// - Otherwise: the landing page. A reload after an error page also looks like a new visit, so lostState restores it.
// - The link in the guide mail: the article.
if ((performance.getEntriesByType('navigation') as PerformanceNavigationTiming[])[0]?.type === 'navigate') {
  if (!variants || visit !== 'arrived') history.replaceState(lostState(), '');
}
if (location.hash === '#guide') history.replaceState({ stage: 'content' }, '', `${SITE_PATH}/`);
const { stage = 'landing' } = (history.state ?? {}) as { readonly stage?: unknown };
// Starts the application without intent, and hides the landing page until it shows the stage.
if (stage !== 'landing') {
  root.dataset['restoring'] = '';
  addLink('modulepreload', secondFileUrl);
  document.addEventListener('DOMContentLoaded', () => started || void begin());
}
