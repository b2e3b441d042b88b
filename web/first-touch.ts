// Keeps the origin of a visit in sessionStorage. Imports no schemas, because the boot script of pages with variants includes this
// file.
import { readTouch } from '#shared/funnel.ts';
import { SITE_PATH } from '#web/site-path.ts';

export const FIRST_TOUCH_KEY = `first-touch${SITE_PATH}`;

export function lastTouch(): string {
  const parameters = new URLSearchParams(location.search);
  // The referrer must come from the browser, not from the URL.
  parameters.delete('referrer');
  const from = hostOf(document.referrer);
  if (from !== '' && from !== location.host) parameters.set('referrer', from);
  return new URLSearchParams(readTouch(parameters)).toString();
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return '';
  }
}

export function noteFirstTouch(): void {
  const touch = lastTouch();
  try {
    if (touch !== '' && sessionStorage.getItem(FIRST_TOUCH_KEY) === null)
      sessionStorage.setItem(FIRST_TOUCH_KEY, touch);
  } catch {
    // Storage is forbidden.
  }
}
