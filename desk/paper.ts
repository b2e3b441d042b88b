// Renders printable, self-contained pages in the site's fonts and colours.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { distFolder, newestRelease } from '#server/http/releases.ts';
import { PROJECT_FOLDER } from '#server/platform/files.ts';
import { readCampaignFolder } from '#server/settings/env-file.ts';
import { escapeHtml } from '#server/platform/text.ts';
import { ACCENT, type ColourPair, PAPER } from '#shared/colours.ts';
import { MARK_LINES } from '#shared/drawings.ts';

/** Returns @font-face rules that embed the site's fonts; empty without a build. */
export function fontFaces(): string {
  const release = newestRelease(distFolder(PROJECT_FOLDER, readCampaignFolder()));
  if (release === null) return '';
  return (
    [
      ['Newsreader', 'newsreader.woff2'],
      ['Hanken Grotesk', 'hanken-grotesk.woff2'],
    ] as const
  )
    .map(([family, name]) => [family, path.join(release.folder, 'files', 'fonts', name)] as const)
    .filter(([, file]) => existsSync(file))
    .map(
      ([family, file]) =>
        `@font-face{font-family:"${family}";font-weight:400 600;src:url(data:font/woff2;base64,${readFileSync(file, 'base64')})}`,
    )
    .join('');
}

/** Copies web/styles/tokens.css for self-contained files. */
export const paperTokens = (accent: ColourPair): string => `
:root {
  color-scheme: light dark;
  --paper: ${PAPER.light}; --ink: #1d1c18; --muted: #5e5a50; --rule: #e2dccd; --accent: ${accent.light};
  --serif: Newsreader, "Iowan Old Style", Georgia, serif;
  --sans: "Hanken Grotesk", system-ui, sans-serif;
  --text-s: .875rem;
}
@media screen and (prefers-color-scheme: dark) {
  :root { --paper: ${PAPER.dark}; --ink: #efebe0; --muted: #a9a596; --rule: #30322a; --accent: ${accent.dark}; }
}
`;

const PAGE_STYLES = `
* { box-sizing: border-box; }
body { max-width: 46rem; margin: 0 auto; padding: clamp(1.5rem, 5vw, 3.5rem) 1.25rem; background: var(--paper); color: var(--ink); font: 1rem/1.5 var(--sans); -webkit-text-size-adjust: 100%; }
header { display: flex; gap: .625rem; align-items: center; padding-bottom: .75rem; border-bottom: 2px solid var(--accent); color: var(--accent); font: 500 1.0625rem/1.3 var(--serif); }
header svg { flex: none; width: 1.625rem; height: 1.25rem; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
h1 { margin: 2rem 0 .375rem; font: 500 1.9rem/1.2 var(--serif); letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { margin: 2.5rem 0 .75rem; font: 500 1.3125rem/1.3 var(--serif); break-after: avoid; }
h3 { margin: 1.5rem 0 .375rem; color: var(--muted); font: 600 .8125rem/1.4 var(--sans); break-after: avoid; }
.quiet { margin: 0; color: var(--muted); }
table + .quiet { margin-top: .75rem; }
blockquote { margin: 0; padding: .125rem 0 .125rem 1.25rem; border-left: 3px solid var(--accent); font: 400 1.1875rem/1.5 var(--serif); break-inside: avoid; }
ol { list-style: none; padding: 0; margin: 0; }
li { border-top: 1px solid var(--rule); padding: .75rem 0; break-inside: avoid; }
time { font-variant-numeric: tabular-nums; color: var(--muted); display: block; font-size: .875rem; }
dl { display: grid; grid-template-columns: 11rem minmax(0, 1fr); gap: .25rem 1rem; margin: .4rem 0 0; font-size: .9375rem; }
dt { color: var(--muted); }
dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.hash, code { font: .8125rem/1.6 ui-monospace, Menlo, Consolas, monospace; }
.sealed { display: grid; grid-template-columns: minmax(0, 1fr) 7rem; gap: 1.5rem; align-items: center; break-inside: avoid; }
.seal { width: 7rem; fill: none; stroke: var(--accent); stroke-linecap: round; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; }
td, th { text-align: left; padding: .3rem .75rem .3rem 0; border-top: 1px solid var(--rule); }
td:last-child, th:last-child { text-align: right; padding-right: 0; font-variant-numeric: tabular-nums; }
@media (max-width: 34rem) { h1 { font-size: 1.5rem; } dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .375rem; } .sealed { grid-template-columns: 1fr; } }
@media print { @page { size: A4; margin: 14mm 18mm; } html { font-size: 10pt; } :root { --paper: #fff; --ink: #000; --muted: #444; --rule: #ccc; } body { max-width: none; padding: 0; } }
`;

/** Styles of every such page. The desk's Content-Security-Policy allows them by their hash. */
export const paperStyles = (accent: ColourPair = ACCENT): string =>
  `${fontFaces()}${paperTokens(accent)}${PAGE_STYLES}`;

export type Letterhead = {
  readonly title: string;
  readonly colors?: { readonly accent: ColourPair } | undefined;
};

export const paperPage = ({
  site,
  heading,
  about,
  body,
}: {
  site: Letterhead;
  heading: string;
  about: string;
  body: string;
}): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${escapeHtml(heading)}</title>
<style>${paperStyles(site.colors?.accent)}</style>
<header><svg viewBox="0 0 26 20" aria-hidden="true">${MARK_LINES.map((line) => `<path d="${line}"/>`).join('')}</svg>${escapeHtml(site.title)}</header>
<h1>${escapeHtml(heading).replaceAll('@', '@<wbr>')}</h1>
<p class="quiet">${escapeHtml(about)}</p>
${body}
</html>
`;
