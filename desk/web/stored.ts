// What the browser remembers for the desk. It remembers nothing if it forbids storage.

export function stored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function store(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // The value lasts until the user leaves the page.
  }
}
