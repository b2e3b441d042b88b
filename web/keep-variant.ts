// Shows a browser the same variant every time: the server chooses one at random, localStorage keeps its name, and a page with
// another variant is replaced. Part of the boot script of pages with variants.
import { noteFirstTouch } from '#web/first-touch.ts';
import { SITE_PATH } from '#web/site-path.ts';

/** Holds the variant and all variant names, so a new comparison starts afresh. */
const VARIANT_KEY = `page-variant${SITE_PATH}`;
/** Holds the replaced page's stage, in sessionStorage. */
const STAGE_KEY = `left-stage${SITE_PATH}`;

export type VariantVisit =
  /** The browser has not seen a variant before. */
  | 'new'
  | 'known'
  /** This page will be replaced by the known variant. */
  | 'leaving'
  /** This page has replaced another variant. */
  | 'arrived'
  /** Requested with `?variant=`. */
  | 'preview';

/**
 * Stores or looks up the browser's variant.
 * @param all variant names, separated by commas
 * @param state history state for the replacing page to restore
 */
export function resolveVariant(own: string, all: string, state: unknown): VariantVisit {
  const { search, hash, pathname } = location;
  const kept = /[?&]kept-variant=[\w-]*$/.exec(search);
  if (kept) {
    // The parameter must not stay in the URL.
    history.replaceState(takeLeftStage(), '', pathname + search.slice(0, kept.index) + hash);
    return 'arrived';
  }
  if (/[?&]variant=/.test(search)) return 'preview';
  try {
    const [name = '', names] = localStorage.getItem(VARIANT_KEY)?.split(' ') ?? [];
    if (names === all) {
      if (name === own || !all.split(',').includes(name)) return 'known';
      // The next request will have no referrer.
      noteFirstTouch();
      sessionStorage.setItem(STAGE_KEY, JSON.stringify(state));
      location.replace(`${pathname}${search}${search ? '&' : '?'}kept-variant=${name}${hash}`);
      return 'leaving';
    }
    localStorage.setItem(VARIANT_KEY, `${own} ${all}`);
  } catch {
    // Storage is forbidden.
  }
  return 'new';
}

function takeLeftStage(): unknown {
  try {
    const text = sessionStorage.getItem(STAGE_KEY);
    sessionStorage.removeItem(STAGE_KEY);
    return JSON.parse(text ?? 'null') as unknown;
  } catch {
    return null;
  }
}
