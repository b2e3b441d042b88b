const KEY = 'desk-leads-hidden';

/** Access may throw, because browsers can forbid storage. */
type Kept = Pick<Storage, 'getItem' | 'setItem'>;

/**
 * IDs of hidden columns.
 * @param usual hidden by default
 */
export function readHidden(storage: () => Kept, usual: readonly string[]): ReadonlySet<string> {
  try {
    const kept = JSON.parse(storage().getItem(KEY) ?? 'null') as unknown;
    if (Array.isArray(kept)) return new Set(kept.filter((id) => typeof id === 'string'));
  } catch {
    // Falls back to the default.
  }
  return new Set(usual);
}

export function keepHidden(storage: () => Kept, hidden: ReadonlySet<string>): void {
  try {
    storage().setItem(KEY, JSON.stringify([...hidden]));
  } catch {
    // Without storage, the choice lasts until the user leaves the page.
  }
}
