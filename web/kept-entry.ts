// What an entry of the browser's history holds, kept beside it in this tab. Chromium and WebKit forget it when a reload fails once:
// their error page takes the entry over, and the next reload looks like an address that was typed. It gives itself away by a new key in
// the same place. In the boot script, so without any schema.

const KEY = 'shown-stage';

const place = () => history.length + location.href;

/** Keeps the state of the entry that is shown; null: there is nothing to lose. */
export function keepEntry(state: object | null): void {
  try {
    const kept = JSON.stringify({ place: place(), key: navigation.currentEntry?.key, state });
    if (state) sessionStorage.setItem(KEY, kept);
    else sessionStorage.removeItem(KEY);
  } catch {
    // A browser that keeps nothing, or has no navigation API: such a reload begins at the beginning.
  }
}

/** The state of the entry that an error page took over; null when this page is opened in any other way. */
export function lostState(): unknown {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as Record<string, unknown>;
    return kept['place'] === place() && kept['key'] !== navigation.currentEntry?.key ? kept['state'] : null;
  } catch {
    return null;
  }
}
