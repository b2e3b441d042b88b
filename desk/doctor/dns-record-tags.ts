// DKIM and DMARC records: name=value pairs, separated by semicolons (RFC 6376, section 3.2).

/** @returns raw values by name; a repeated name keeps its first value */
export function readTags(record: string): ReadonlyMap<string, string> {
  const tags = new Map<string, string>();
  for (const part of record.split(';')) {
    const at = part.indexOf('=');
    const name = part.slice(0, Math.max(0, at)).trim();
    if (name !== '' && !tags.has(name)) tags.set(name, part.slice(at + 1).trim());
  }
  return tags;
}
