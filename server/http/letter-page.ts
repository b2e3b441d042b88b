// Makes the pages that links in our mails open. The API serves them: they need only the font of the built site, and run no script.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { escapeHtml } from '#server/platform/escape-html.ts';
import { contentSecurityPolicy, securityHeaders } from '#server/http/security-headers.ts';
import { sendWhole, textResource, type Resource } from '#server/http/send-resource.ts';
import type { Site } from '#shared/campaign-schema.ts';

const STYLES = readFileSync(path.join(import.meta.dirname, 'letter-page.css'), 'utf8');

/** The styles, with a campaign's own colours after ours. */
function stylesOf({ colors }: Pick<Site, 'colors'>): string {
  if (!colors) return STYLES;
  const { light, dark } = colors.accent;
  return `${STYLES}${ownAccent(light)}@media(prefers-color-scheme:dark){${ownAccent(dark)}}`;
}

const ownAccent = (colour: string): string => `:root{--accent:${colour}}`;

/** Makes one page from the title of its tab, its headline, its text and the HTML of its link or button (`way`). */
export type LetterPage = (page: { tab: string; title: string; text: string; way: string }) => Resource;

/**
 * Makes pages in the look of a campaign.
 * @param secure whether visitors come over https
 */
export function createLetterPage(
  site: Pick<Site, 'title' | 'language' | 'colors'>,
  secure: boolean,
): LetterPage {
  const styles = stylesOf(site);
  const hash = `'sha256-${createHash('sha256').update(styles).digest('base64')}'`;
  const policy = contentSecurityPolicy({ scripts: [], styles: [hash] }, secure);
  const always = [...securityHeaders(secure, policy), 'x-robots-tag', 'noindex'];
  return ({ tab, title, text, way }) =>
    textResource(
      `<!doctype html>
<html lang="${escapeHtml(site.language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(tab)}</title>
<link rel="icon" href="/favicon.svg">
<style>${styles}</style>
</head>
<body>
<header><a href="/">${escapeHtml(site.title)}</a></header>
<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>
${way}
</main>
</body>
</html>
`,
      { type: 'text/html; charset=utf-8', cacheControl: 'no-store', always },
    );
}

/** Answers that a link opens nothing (any more). To programs, with the code of any unknown path. */
export const sendDeadLink = (request: FastifyRequest, reply: FastifyReply, page: Resource): FastifyReply =>
  sendWhole(request, reply.code(404).header('x-error-code', 'not-found'), page);

/** The way to the first page. */
export const wayHome = (words: string): string => `<p><a href="/">${escapeHtml(words)}</a></p>`;
