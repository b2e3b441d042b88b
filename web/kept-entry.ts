// Keeps a copy of the history entry's state in sessionStorage. When a reload fails, Chromium and WebKit lose the state: their error
// page takes over the entry, and the next reload looks like a typed URL.

const KEY = 'shown-stage';

const place = () => history.length + location.href;

export function keepEntry(state: object | null): void {
  try {
    const kept = JSON.stringify({ place: place(), key: navigation.currentEntry?.key, state });
    if (state) sessionStorage.setItem(KEY, kept);
    else sessionStorage.removeItem(KEY);
  } catch {
    // Storage or the navigation API is missing.
  }
}

/** Returns null unless an error page took over this entry. */
export function lostState(): unknown {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as Record<string, unknown>;
    return kept['place'] === place() && kept['key'] !== navigation.currentEntry?.key ? kept['state'] : null;
  } catch {
    return null;
  }
}
