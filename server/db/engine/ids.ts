// Ids are UUIDs of version 7: they begin with the time they were made at, so the primary key sorts by time.

/** The smallest id that can have been made at a time (RFC 9562, section 5.7: 48 bits of milliseconds come first). */
export function lowestIdAt(ms: number): string {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** When an id was made; milliseconds since 1970. NaN for what is no id of ours. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
