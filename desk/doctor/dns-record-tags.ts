// The lists of DKIM and DMARC records: name=value, separated by semicolons (RFC 6376, section 3.2).

/** @returns the values by name, as they are written. Of a name that comes twice, the first */
export function readTags(record: string): ReadonlyMap<string, string> {
  const tags = new Map<string, string>();
  for (const part of record.split(';')) {
    const at = part.indexOf('=');
    const name = part.slice(0, Math.max(0, at)).trim();
    if (name !== '' && !tags.has(name)) tags.set(name, part.slice(at + 1).trim());
  }
  return tags;
}
