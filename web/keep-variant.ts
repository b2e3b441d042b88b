// Keeps a browser with the page that it was given first, of several that are compared (variants/ of the campaign). The server draws one at
// random; this notes which, in localStorage: a few letters that many visitors share, so no identifier. A browser that comes by another
// address and was given another page asks for its own. Part of the boot script, and of no page that is not compared.
import { noteFirstTouch } from '#web/first-touch.ts';
import { SITE_PATH } from '#web/site-path.ts';

/** The variant, and the names of all that it is compared with: another comparison begins anew. */
const VARIANT_KEY = `page-variant${SITE_PATH}`;
/** In this tab: the stage that was left for the other page. */
const STAGE_KEY = `left-stage${SITE_PATH}`;

/** What a page is to this browser. */
export type Meeting =
  /** The first of those that are compared. */
  | 'new'
  | 'known'
  /** Another one than it knows, which comes in its place. */
  | 'leaving'
  /** The one that was asked for in the place of another. */
  | 'arrived'
  /** Only looked at. */
  | 'preview';

/**
 * Notes or looks up which page this browser has.
 * @param own variant of this page
 * @param all names of the pages that are compared, with commas
 * @param state of this entry of the browser's history, which the other page takes over
 */
export function meetVariant(own: string, all: string, state: unknown): Meeting {
  const { search, hash, pathname } = location;
  const kept = /[?&]kept-variant=[\w-]*$/.exec(search);
  if (kept) {
    // Nothing shows that the page was asked for twice.
    const address = pathname + search.slice(0, kept.index) + hash;
    history.replaceState(readLeftStage(), '', address);
    return 'arrived';
  }
  if (/[?&]variant=/.test(search)) return 'preview';
  try {
    const [name = '', of] = localStorage.getItem(VARIANT_KEY)?.split(' ') ?? [];
    if (of === all) {
      if (name === own || !all.split(',').includes(name)) return 'known';
      // The next request does not say which site linked here.
      noteFirstTouch();
      sessionStorage.setItem(STAGE_KEY, JSON.stringify(state));
      location.replace(`${pathname}${search}${search ? '&' : '?'}kept-variant=${name}${hash}`);
      return 'leaving';
    }
    localStorage.setItem(VARIANT_KEY, `${own} ${all}`);
  } catch {
    // A browser that keeps nothing is given a page each time, and is new each time.
  }
  return 'new';
}

/** The stage that was left, once. */
function readLeftStage(): unknown {
  try {
    const text = sessionStorage.getItem(STAGE_KEY);
    sessionStorage.removeItem(STAGE_KEY);
    return JSON.parse(text ?? 'null') as unknown;
  } catch {
    return null;
  }
}
