import type { FastifyReply, FastifyRequest } from 'fastify';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { escapeHtml } from '#server/platform/text.ts';
import { contentSecurityPolicy, hashOf, securityHeaders } from '#server/http/security-headers.ts';
import { sendWhole, textResource, type Resource } from '#server/http/send-resource.ts';
import type { Site } from '#shared/campaign-schema.ts';
import { colourStyles, PAPER } from '#shared/colours.ts';
import { CLOSED_ENVELOPE } from '#shared/closed-envelope.ts';
import { type DrawnPath, ENVELOPE, MARK_LINES } from '#shared/drawings.ts';
import { fromOtherPage, languageAttributes } from '#shared/words.ts';

const STYLES = readFileSync(path.join(import.meta.dirname, 'letter-page.css'), 'utf8')
  .replaceAll(/\/\*.*?\*\//gs, '')
  .replaceAll(/\s+/g, ' ');

/** Same as web/theme/theme.ts, but inline to run before the first paint. Browsers can forbid storage. */
const THEME_SCRIPT = `try{if(localStorage.getItem('theme')==='dark'){document.documentElement.className='dark';document.querySelector('[name=theme-color]').content='${PAPER.dark}'}}catch{}`;

export type LetterPage = (page: {
  readonly documentTitle: string;
  readonly title: string;
  readonly text: string;
  /** HTML of a link or a form. */
  readonly action: string;
  /** Shows the envelope without its letter. */
  readonly closed?: boolean;
}) => Resource;

type Letterhead = Pick<Site, 'title' | 'language' | 'colors' | 'logo' | 'copyright' | 'footerLinks'>;

export function createLetterPage(site: Letterhead, secure: boolean, basePath: string): LetterPage {
  const styles =
    STYLES.replaceAll("url('/", `url('${basePath}/`) + (site.colors ? colourStyles(site.colors) : '');
  const hashes = { scripts: [hashOf(THEME_SCRIPT)], styles: [hashOf(styles)] };
  const policy = contentSecurityPolicy(hashes, secure);
  const headers = { ...securityHeaders(secure, policy), 'x-robots-tag': 'noindex' };
  const [header, footer] = [renderHeader(site, basePath), renderFooter(site, basePath)];
  return ({ documentTitle, title, text, action, closed = false }) =>
    textResource(
      `<!doctype html>
<html ${languageAttributes(site.language)}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1,viewport-fit=cover">
<meta name="robots" content="noindex">
<meta name="theme-color" content="${PAPER.light}">
<title>${escapeHtml(documentTitle)}</title>
<link rel="icon" href="${basePath}/favicon.svg">
<script>${THEME_SCRIPT}</script>
<style>${styles}</style>
</head>
<body>
${header}
<main>
${renderDrawing(closed ? CLOSED_ENVELOPE : ENVELOPE)}
<div class="words">
<h1>${escapeHtml(title).replaceAll(/\S+-\S+/g, '<span>$&</span>')}</h1>
<p>${escapeHtml(text)}</p>
${action}
</div>
</main>
${footer}
</body>
</html>
`,
      { type: 'text/html; charset=utf-8', cacheControl: 'no-store', headers },
    );
}

const MARK = `<svg width="26" height="20" viewBox="0 0 26 20" aria-hidden="true"><path d="${MARK_LINES.join('')}"/></svg>`;

const renderDrawing = (paths: readonly DrawnPath[]): string =>
  `<svg class="drawing" viewBox="0 0 200 200" width="200" height="200" aria-hidden="true">${paths
    .map(
      ([line, colour, stroke = 'none', width = 1]) =>
        `<path d="${line}" fill="${colour}" stroke="${stroke}" stroke-width="${width}"/>`,
    )
    .join('')}</svg>`;

const renderHeader = ({ title, logo }: Letterhead, basePath: string): string =>
  `<header><a href="${basePath}/">${logo === undefined ? MARK : `<img src="${basePath}/media/${escapeHtml(logo)}" alt="" height="24">`}<span>${escapeHtml(title)}</span></a></header>`;

function renderFooter({ copyright, footerLinks }: Letterhead, basePath: string): string {
  const links = footerLinks.map(
    ({ label, href }) =>
      `<li><a href="${escapeHtml(fromOtherPage(href, basePath))}">${escapeHtml(label)}</a></li>`,
  );
  return `<footer><p>${escapeHtml(copyright)}</p>${links.length > 0 ? `<ul>${links.join('')}</ul>` : ''}</footer>`;
}

export const sendInvalidLinkPage = (
  request: FastifyRequest,
  reply: FastifyReply,
  page: Resource,
): FastifyReply => sendWhole(request, reply.code(404).header('x-error-code', 'not-found'), page);

export const homeLink = (words: string, basePath: string): string =>
  `<p><a class="button" href="${basePath}/">${escapeHtml(words)}</a></p>`;
