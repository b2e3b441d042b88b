/** The first match wins, because most browsers also name older ones. */
const BROWSERS = [
  ['Edg(?:e|A|iOS)?/', 'Edge'],
  ['OPR/|Opera', 'Opera'],
  ['Firefox/|FxiOS/', 'Firefox'],
  ['Chrome/|CriOS/|Chromium/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;
const SYSTEMS = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['CrOS', 'ChromeOS'],
  ['Windows', 'Windows'],
  ['Mac OS X|Macintosh', 'macOS'],
  ['Linux', 'Linux'],
] as const;

const nameIn = (userAgent: string, names: readonly (readonly [string, string])[]): string | undefined =>
  names.find(([pattern]) => new RegExp(pattern).test(userAgent))?.[1];

export function browserName(userAgent: string): string {
  const browser = nameIn(userAgent, BROWSERS);
  const system = nameIn(userAgent, SYSTEMS);
  if (browser === undefined) return system ?? userAgent.slice(0, 40);
  return system === undefined ? browser : `${browser} on ${system}`;
}
