// IDs are UUIDs of version 7: they begin with their time, so the primary key sorts by time.

/** RFC 9562, section 5.7: the first 48 bits are milliseconds. */
export function lowestIdAt(ms: number): string {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** Milliseconds since 1970; NaN for a foreign ID. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
