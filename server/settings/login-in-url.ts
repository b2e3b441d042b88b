// User and password in SMTP_URL and DATABASE_URL, where some characters must be percent-encoded.

/** RFC 3986, section 2.1. */
const WRITTEN_AS = { '#': '%23', '/': '%2F', '?': '%3F' } as const;

/**
 * Finds a password that ends the login early.
 * @returns a phrase that follows the name of the setting, or null
 */
export function loginMistake(url: string): string | null {
  const [, rest] = /^[a-z][a-z0-9+.-]*:\/\/(.*)$/i.exec(url) ?? [];
  const end = rest?.lastIndexOf('@') ?? -1;
  if (rest === undefined || end < 0) return null;
  const ending = /[#/?]/.exec(rest.slice(0, end));
  // An "@" in a parameter, as in "?user=me@example.com", is harmless.
  if (ending === null || /^([^#/?]*@)?[^@#/?]*(\/[^@#?]*)?\?[^@#?]*=/.test(rest)) return null;
  const found = ending[0] as keyof typeof WRITTEN_AS;
  return `has a "${found}" in its user or password. Write it as ${WRITTEN_AS[found]} (and "@" as %40, "/" as %2F, "?" as %3F, "#" as %23)`;
}

/** Warns of an unencoded "@", which is read as intended because no host can contain one. */
export function bareAtWarnings(name: string, url: string): string[] {
  const parsed = URL.parse(url);
  const isBare =
    parsed !== null &&
    /%40/.test(parsed.username + parsed.password) &&
    /^[^/]*\/\/[^/?#]*@[^/?#]*@/.test(url);
  return isBare
    ? [`${name} has an "@" in its user or password, which is read as part of it. Write it as %40 to be sure.`]
    : [];
}
