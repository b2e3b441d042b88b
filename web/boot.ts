// The only script that runs before a visitor does anything; it stands inline in the page's head. It sets the theme before
// the first paint, and loads the application at the first sign of intent. That first click or key is kept and given
// to the application once it is there, so it is never lost. Every byte counts here: it delays the first paint.
import { analytics, variants } from '#campaign/site.yaml';
import { meetVariant, type Meeting } from '#web/keep-variant.ts';
import { readTheme, showTheme, toggleTheme } from '#web/theme/theme.ts';
import { lostState } from '#web/kept-entry.ts';
import { asksNotToBeCounted } from '#web/wishes.ts';
import { SITE_PATH } from '#web/site-path.ts';

type AppModule = { readonly start: (pressed?: HTMLButtonElement) => Promise<boolean> };

// A URL with user and password: the browser would refuse every call that this page makes. Chromium hides them in location alone.
if (document.URL !== location.href) location.replace(location.href);

const root = document.documentElement;
const { app: appUrl = '', later: secondFileUrl = '' } = (document.currentScript as HTMLElement).dataset;
/** Which of several pages that are compared this one is; none on the 404 page. */
const variant = variants ? (document.currentScript as HTMLElement).dataset['variant'] : '';
const counterUrl = analytics ? (document.currentScript as HTMLElement).dataset['counter'] : '';
showTheme(
  root,
  readTheme(() => localStorage),
);

/** What a visitor can press before the application is there. */
const buttons = () => [...document.querySelectorAll('button')];
const buttonAt = ({ target }: Event) => (target instanceof Element ? target.closest('button') : null);
const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

let started = false;
/** The button that was pressed, by its place: hydration may replace it (a translation tool may have rewritten it). */
let pressed = -1;
/** The button under a finger that is still down, or was lifted a moment ago and not yet followed by a click; and its place. */
let held: HTMLButtonElement | null = null;
let heldAt = -1;
let released = false;
/** A click follows the release within this time. */
const CLICK_WITHIN_MS = 300;
let shortcut: KeyboardEvent | null = null;

const INTENTS = ['click', 'pointerdown', 'pointermove', 'pointerup', 'pointercancel', 'keydown', 'focusin'];

const onIntent = (event: Event): void => {
  const { type } = event;
  if (type === 'click') {
    held = null;
    const button = buttonAt(event);
    if (button === null) return;
    event.preventDefault();
    // Once hydration has begun React would answer it too.
    event.stopPropagation();
    // The theme needs no application.
    if (button.closest('header')) toggleTheme(root);
    else {
      pressed = buttons().indexOf(button);
      // A sign of life while the application loads (critical styles).
      button.ariaBusy = 'true';
    }
  } else if (type === 'pointerup') {
    released = true;
    // Where the button was replaced meanwhile, no click will come.
    setTimeout(() => (held = released && held?.isConnected ? null : held), CLICK_WITHIN_MS);
  } else if (type.startsWith('pointer') && type !== 'pointermove') {
    released = false;
    held = type === 'pointerdown' ? buttonAt(event) : null;
    heldAt = held ? buttons().indexOf(held) : -1;
  } else if (event instanceof KeyboardEvent && event.key === 'F8') shortcut = event;
  if (!started) void begin();
};

/** After this time a visitor is told that something is missing, though it may still come. */
const PATIENCE_MS = 10_000;
const showFailure = () => document.getElementById('load-failure')?.removeAttribute('hidden');

async function begin(): Promise<void> {
  started = true;
  const patience = setTimeout(showFailure, PATIENCE_MS);
  for (const pause of [500, 2000, 0]) {
    try {
      // Browsers remember that a module failed to load; another address makes them try again.
      const url = pause === 500 ? appUrl : `${appUrl}?${pause}`;
      globalThis.appModule = import(/* @vite-ignore */ url);
      const app = (await globalThis.appModule) as AppModule;
      if (await app.start(buttons()[pressed])) pressed = -1;
      clearTimeout(patience);
      repeat();
      return;
    } catch {
      await wait(pause);
    }
  }
  started = false;
  pressed = -1;
  for (const button of buttons()) button.ariaBusy = null;
  showFailure();
}

function repeat(): void {
  for (const type of INTENTS) document.removeEventListener(type, onIntent, true);
  if (shortcut) document.dispatchEvent(new KeyboardEvent('keydown', shortcut));
  buttons()[pressed]?.click();
  // Between press and click the button was replaced: where the browser finds nothing to click, we do.
  if (held?.isConnected === false) {
    let clicked = false;
    addEventListener('click', () => (clicked = true), { once: true, capture: true });
    const press = () => setTimeout(() => clicked || buttons()[heldAt]?.click(), 50);
    if (released) press();
    else addEventListener('pointerup', press, { once: true });
  }
}

for (const type of INTENTS) document.addEventListener(type, onIntent, true);

const addLink = (rel: string, href: string): HTMLLinkElement => {
  const link = document.createElement('link');
  link.rel = rel;
  link.href = href;
  return document.head.appendChild(link);
};

/** Each face, once it has come or failed; kept only where something waits for the fonts. */
const faces: Promise<unknown>[] | null = analytics ? [] : null;

/** What this page is to this browser, where several are compared. */
let meeting: Meeting | '' = '';

/** Reports that a browser saw one of several pages for the first time, once it did: the only view that a comparison counts. */
const reportFirstSight = () => {
  if (meeting === 'new' && !asksNotToBeCounted())
    fetch(`${SITE_PATH}/api/funnel`, {
      method: 'POST',
      credentials: 'omit',
      keepalive: true,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ step: 'first-seen', variant }),
    }).catch(() => {});
};

const loadFonts = () => {
  if (variants) reportFirstSight();
  addLink('manifest', `${SITE_PATH}/site.webmanifest`);
  for (const [family, file] of [
    ['Newsreader', 'newsreader'],
    ['Hanken Grotesk', 'hanken-grotesk'],
  ] as const) {
    const font = new FontFace(family, `url(${SITE_PATH}/fonts/${file}.woff2)`, { weight: '400 600' });
    // Where one does not come, its stand-in is a good face too (styles/tokens.css).
    const loaded = font.load().then(
      () => {
        document.fonts.add(font);
        // A face that is loaded when it is added is not reported by the document itself (landing/use-arrival.ts).
        return document.fonts.dispatchEvent(new Event('loadingdone'));
      },
      () => {},
    );
    if (analytics) faces?.push(loaded);
  }
  // The operator's visit counter (analytics/analytics.ts), of the page alone and not of the 404 page: when nothing else is to come.
  if (analytics && counterUrl)
    void Promise.all(faces ?? [])
      .then(() => import(/* @vite-ignore */ counterUrl))
      .catch(() => {});
};

// What the first view does not need must not delay it: the headline may be painted a frame after the first words. The
// application comes before the fonts: a visitor who presses the button at once waits for the one and not for the other.
const painted = new PerformanceObserver(() => {
  painted.disconnect();
  requestAnimationFrame(() =>
    requestAnimationFrame(() =>
      setTimeout(() => {
        const link = addLink('modulepreload', appUrl);
        link.onload = link.onerror = loadFonts;
      }),
    ),
  );
});
painted.observe({ type: 'paint', buffered: true });

// A link to the page, or its address typed again, begins at the beginning; a reload and Back come back to where one was.
if (variants && variant && location.hash !== '#guide') {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  meeting = meetVariant(variant, variants, navigation?.type === 'navigate' ? null : history.state);
  // Nothing of this page is shown while the other one comes.
  if (meeting === 'leaving') root.dataset['restoring'] = '';
}
if ((performance.getEntriesByType('navigation') as PerformanceNavigationTiming[])[0]?.type === 'navigate') {
  // Unless it continues what another page began.
  if (!variants || meeting !== 'arrived') history.replaceState(lostState(), '');
}
// The link in the mail with the guide leads here, past the form.
if (location.hash === '#guide') history.replaceState({ stage: 'content' }, '', `${SITE_PATH}/`);
const { stage = 'landing' } = (history.state ?? {}) as { readonly stage?: unknown };
if (stage !== 'landing') {
  // A reload of a later stage: the prerendered landing page stays hidden (base.css) until that stage is back.
  root.dataset['restoring'] = '';
  // The code screen and the article are in the second file (web/later-stages/), and come right after the form.
  addLink('modulepreload', secondFileUrl);
  document.addEventListener('DOMContentLoaded', () => void begin());
}
