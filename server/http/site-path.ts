// The path of PUBLIC_URL (https://example.com/guide), for a page that lives under another site. Requests lose it before any route sees
// them, and what is sent gets it: a built site knows only addresses that begin at the root, and serves under every path.

/** The first part of every address of ours. A test compares it with the built sites. */
export const OWN_NAMES = [
  'api',
  'assets',
  'fonts',
  'media',
  'apple-touch-icon.png',
  'favicon.ico',
  'favicon.svg',
  'icon-192.png',
  'icon-512.png',
  'icon-maskable-512.png',
  'proof-of-work.js',
  'robots.txt',
  'site.webmanifest',
  'sitemap.xml',
];

/** A folder has something behind it: "our media/press page" is no address. */
const asPattern = (name: string): string =>
  name.includes('.') ? String.raw`${name.replaceAll('.', String.raw`\.`)}(?![\w.-])` : `${name}/`;

/** The slash with which an address of ours begins, in HTML, CSS, JSON, and in scripts as the bundler writes them. */
const FIRST_SLASH = new RegExp(
  [
    // "/media/hero-640.webp 640w, /media/…", url(/fonts/…); not in a sentence
    String.raw`(?<=["'\`]|url\(|\d[wx],\s?)/(?=${OWN_NAMES.map(asPattern).join('|')})`,
    // The page itself and its places: href="/", href="/#benefits", "start_url":"/"
    String.raw`(?<=(?:href|start_url)["']?\s*[:=]\s*["'\`])/(?=["'\`#])`,
    // Of the application: web/app.tsx, web/content/use-share.ts, web/boot.ts and shared/links.ts
    String.raw`(?<====["'\`])/(?=["'\`]\?)`,
    String.raw`(?<=URL\(["'\`])/(?=["'\`])`,
    String.raw`(?<=replaceState\([^()]*,["'\`])/(?=["'\`]\))`,
    String.raw`(?<=\?["'\`])/(?=\$\{)`,
  ].join('|'),
  'g',
);

/** Names under which the page keeps something in a tab, or in the browser. They get the path too: another page of the host may use the same. */
const KEPT_IN_TAB = /(?<=(["'`])(?:lead-draft|first-touch|page-variant|left-stage|shown-stage))(?=\1)/g;

export type SitePath = {
  /** Such as `/guide`; empty when the page is at the root of its host. */
  readonly path: string;
  /** Puts the path before each address of ours in a page, a style sheet, a script or a manifest. */
  readonly inText: (text: string) => string;
  /** The address as routes know it; null when it is not under the path. @param url path and query */
  readonly withoutPath: (url: string) => string | null;
};

/** @param path of PUBLIC_URL, without a slash at its end */
export function createSitePath(path: string): SitePath {
  if (path === '') return { path, inText: (text) => text, withoutPath: (url) => url };
  return {
    path,
    inText: (text) => text.replaceAll(FIRST_SLASH, `${path}/`).replaceAll(KEPT_IN_TAB, ` ${path}`),
    withoutPath: (url) => (url.startsWith(`${path}/`) ? url.slice(path.length) : null),
  };
}
