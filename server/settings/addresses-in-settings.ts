// What an address in a setting (SMTP_URL, DATABASE_URL, HOST) shows without a look at the network: whether two are one, and whether
// a character in its password cuts it in two.
import ipaddr from 'ipaddr.js';

/** Whether two hosts that a server listens on are one address, or one of them is all addresses. */
export function shareAddress(one: string, other: string): boolean {
  const [first, second] = [one, other].map((host) => {
    const name = host === 'localhost' ? '127.0.0.1' : host.toLowerCase();
    return ipaddr.isValid(name) ? ipaddr.process(name).toString() : name;
  }) as [string, string];
  const holds = (all: string, host: string) => all === '::' || (all === '0.0.0.0' && !host.includes(':'));
  return first === second || holds(first, second) || holds(second, first);
}

/** Ports that no browser opens, as other protocols listen there (WHATWG Fetch, "bad port"). */
export const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** How the characters that end a login must be written inside it (RFC 3986, section 2.1). */
const WRITTEN_AS = { '#': '%23', '/': '%2F', '?': '%3F', '@': '%40' } as const;

/**
 * Finds a password that ends the address early, because a character in it means something there.
 * @returns how to write it, as the rest of a sentence that begins with the setting's name, or null when there is none
 */
export function loginSlip(url: string): string | null {
  const [, rest] = /^[a-z][a-z0-9+.-]*:\/\/(.*)$/i.exec(url) ?? [];
  const end = rest?.lastIndexOf('@') ?? -1;
  if (rest === undefined || end < 0) return null;
  const login = rest.slice(0, end);
  const ending = /[#/?]/.exec(login);
  // An "@" in a parameter's value, as in "?user=me@example.com", ends nothing.
  if (ending === null || /^([^#/?]*@)?[^@#/?]*(\/[^@#?]*)?\?[^@#?]*=/.test(rest)) return null;
  const found = ending[0] as keyof typeof WRITTEN_AS;
  return `has a "${found}" in its user or password, where it must be written ${WRITTEN_AS[found]} (and "@" as %40, "/" as %2F, "?" as %3F, "#" as %23)`;
}

/** Whether a login holds an "@" that is not written %40. It is read as people mean it, because no host can have one. */
function hasBareAt(url: string): boolean {
  const parsed = URL.parse(url);
  return (
    parsed !== null && /%40/.test(parsed.username + parsed.password) && /^[^/]*\/\/[^/?#]*@[^/?#]*@/.test(url)
  );
}

/** One sentence for each login in a setting that is not written as an address needs it. */
export function loginComplaints(present: Readonly<Record<string, string>>): string[] {
  return ['SMTP_URL', 'DATABASE_URL'].flatMap((name) => {
    const value = present[name] ?? '';
    const slip = loginSlip(value);
    if (slip !== null) return [`${name} ${slip}.`];
    const parsed = name === 'SMTP_URL' ? URL.parse(value) : null;
    return parsed !== null && !isDecodable(parsed.username + parsed.password)
      ? [`${name} has a "%" in its user or password that must be written %25.`]
      : [];
  });
}

/** A warning about an "@" in a login that is not written %40. */
export const bareAtWarnings = (name: string, address: string): string[] =>
  hasBareAt(address)
    ? [`${name} has an "@" in its user or password. It is taken as part of it; write it %40 to be sure.`]
    : [];

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
