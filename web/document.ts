// Renders the HTML around the prerendered markup at build time. The build knows only the path of PUBLIC_URL.
import type { Interface, Site } from '#shared/campaign-schema.ts';
import { PAPER } from '#shared/colours.ts';
import { fill, languageAttributes } from '#shared/words.ts';

/** The server replaces this with the origin of PUBLIC_URL (server/http/static-files.ts). */
const ORIGIN = '__PUBLIC_URL__';

export type DocumentParts = {
  readonly site: Site;
  readonly words: Pick<Interface, 'notFound' | 'loadFailure'>;
  readonly markup: string;
  readonly css: string;
  readonly bootScript: string;
  readonly appUrl: string;
  readonly secondFileUrl: string;
  readonly displayUrl: string;
  readonly counterUrl: string | null;
  readonly icon: string;
  readonly page: 'home' | '404';
  readonly variant: string | null;
  readonly hasPicture: boolean;
};

/**
 * `data-cfasync` and `email_off` stop Cloudflare from delaying the script (Rocket Loader) and from obfuscating e-mail addresses,
 * which hydration would keep.
 * The viewport's place and order compress best.
 */
export function renderDocument(parts: DocumentParts): string {
  const { site, words, markup, css, bootScript, appUrl, secondFileUrl, displayUrl, counterUrl } = parts;
  const { icon, page, variant, hasPicture } = parts;
  const title = page === 'home' ? site.pageTitle : fill(words.notFound.pageTitle, { title: site.title });
  const { text, link } = words.loadFailure;
  const failure = fill(escape(text), { link: `<a href="">${escape(link)}</a>` });
  return `<!doctype html>
<html ${languageAttributes(site.language)} class="light">
<head>
<meta charset="utf-8">
<meta name="theme-color">
<title>${escape(title)}</title>
${[...(page === 'home' ? [homeMeta(site, hasPicture)] : []), ...(page === '404' || site.noindex ? [NOINDEX] : [])].join('\n')}
<meta name="viewport" content="initial-scale=1, width=device-width, interactive-widget=resizes-content, viewport-fit=cover">
<link rel="icon" href="data:image/svg+xml,${inUrl(icon)}">
<script data-cfasync="false" data-app="${escape(appUrl)}" data-later="${escape(secondFileUrl)}" data-display="${escape(displayUrl)}"${counterUrl === null ? '' : ` data-counter="${escape(counterUrl)}"`}${variant === null ? '' : ` data-variant="${escape(variant)}"`}>${bootScript}</script>
<style>${css}</style>
</head>
<body>
<!--email_off--><div id="root">${markup}</div><!--/email_off-->
<div id="load-failure" role="alert" hidden>${failure}</div>
</body>
</html>
`;
}

/** Single quotes are shorter. */
const inUrl = (svg: string): string =>
  svg.replace(/[#%&]/g, encodeURIComponent).replaceAll('"', svg.includes("'") ? '%22' : "'");

const NOINDEX = '<meta name="robots" content="noindex">';

function homeMeta(site: Site, hasPicture: boolean): string {
  const properties: readonly (readonly [string, string, string])[] = [
    ['name', 'description', site.description],
    ['property', 'og:type', 'website'],
    ['property', 'og:site_name', site.publisher],
    ['property', 'og:title', site.pageTitle],
    ['property', 'og:description', site.description],
    ['property', 'og:url', `${ORIGIN}/`],
    ...(hasPicture
      ? ([
          ['property', 'og:image', `${ORIGIN}/media/og.png`],
          ['property', 'og:image:width', '1200'],
          ['property', 'og:image:height', '630'],
          ['property', 'og:image:alt', site.pageTitle],
          ['name', 'twitter:card', 'summary_large_image'],
        ] as const)
      : ([['name', 'twitter:card', 'summary']] as const)),
  ];
  const structured = {
    '@context': 'https://schema.org',
    '@type': 'WebPage',
    name: site.pageTitle,
    description: site.description,
    url: `${ORIGIN}/`,
    publisher: { '@type': 'Organization', name: site.publisher, url: `${ORIGIN}/` },
  };
  return [
    `<link rel="canonical" href="${ORIGIN}/">`,
    ...properties.map(([kind, name, content]) => `<meta ${kind}="${name}" content="${escape(content)}">`),
    // Escapes "<" so no text can close the element.
    `<script type="application/ld+json">${JSON.stringify(structured).replaceAll('<', '\\u003c')}</script>`,
  ].join('\n');
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? character);

/** A page with `noindex` stays open to robots, because they must read it to find the tag. */
export const robotsTxt = ({ noindex }: Pick<Site, 'noindex'>): string =>
  `User-agent: *\nDisallow: /api/\n${noindex ? '' : `\nSitemap: ${ORIGIN}/sitemap.xml\n`}`;

export const SITEMAP_XML = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>${ORIGIN}/</loc></url>
</urlset>
`;

export function renderManifest(site: Site, path: string): string {
  return `${JSON.stringify({
    name: site.title,
    short_name: site.title,
    description: site.description,
    lang: site.language,
    start_url: `${path}/`,
    display: 'browser',
    background_color: PAPER.light,
    theme_color: PAPER.light,
    icons: [
      { src: `${path}/icon-192.png`, sizes: '192x192', type: 'image/png' },
      { src: `${path}/icon-512.png`, sizes: '512x512', type: 'image/png' },
      { src: `${path}/icon-maskable-512.png`, sizes: '512x512', type: 'image/png', purpose: 'maskable' },
    ],
  })}\n`;
}
