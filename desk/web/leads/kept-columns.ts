// Which columns of the list a reader has put away, kept in this browser.

const KEY = 'desk-leads-hidden';

/** Where the choice is kept. Reading or writing may throw: browsers can forbid storage. */
type Kept = Pick<Storage, 'getItem' | 'setItem'>;

/** Ids of the columns that are not shown. @param usual what is hidden until the reader has chosen */
export function readHidden(storage: () => Kept, usual: readonly string[]): ReadonlySet<string> {
  try {
    const kept = JSON.parse(storage().getItem(KEY) ?? 'null') as unknown;
    if (Array.isArray(kept)) return new Set(kept.filter((id) => typeof id === 'string'));
  } catch {
    // As if nothing had been chosen.
  }
  return new Set(usual);
}

/** Keeps the choice; without storage it holds until the page is left. */
export function keepHidden(storage: () => Kept, hidden: ReadonlySet<string>): void {
  try {
    storage().setItem(KEY, JSON.stringify([...hidden]));
  } catch {
    // The list works without.
  }
}
