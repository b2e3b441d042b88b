// The pages of an unsubscribe link: served by the API, so they need nothing that the site's build makes but its fonts, and no script.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { escapeHtml } from '#server/escape-html.ts';
import { securityHeaders, contentSecurityPolicy } from '#server/http/security-headers.ts';
import { textResource, type Resource } from '#server/http/send-resource.ts';
import type { Interface, Site } from '#shared/campaign-schema.ts';
import { fill } from '#shared/words.ts';

/** What the mail program's button and ours send (RFC 8058, section 3.1). */
export const ONE_CLICK = { name: 'List-Unsubscribe', value: 'One-Click' } as const;

/** What our page's form sends beside it. */
export const FROM_PAGE = 'page';

const STYLES = readFileSync(path.join(import.meta.dirname, 'page.css'), 'utf8');

/** The styles, with a campaign's own colours after ours. */
function stylesOf({ colors }: Pick<Site, 'colors'>): string {
  if (!colors) return STYLES;
  const { light, dark } = colors.accent;
  return `${STYLES}${ownAccent(light)}@media(prefers-color-scheme:dark){${ownAccent(dark)}}`;
}

const ownAccent = (colour: string): string => `:root{--accent:${colour}}`;

export type UnsubscribePages = { readonly [Page in 'ask' | 'done' | 'unknown']: Resource };

/** Makes the pages once. @param secure whether visitors come over https */
export function createUnsubscribePages({
  site,
  words,
  secure,
}: {
  site: Pick<Site, 'title' | 'language' | 'colors'>;
  words: Interface['unsubscribe'];
  secure: boolean;
}): UnsubscribePages {
  const styles = stylesOf(site);
  const hash = `'sha256-${createHash('sha256').update(styles).digest('base64')}'`;
  const always = [
    ...securityHeaders(secure, contentSecurityPolicy({ scripts: [], styles: [hash] }, secure)),
    'x-robots-tag',
    'noindex',
  ];
  const page = (title: string, text: string, way: string): Resource =>
    textResource(
      `<!doctype html>
<html lang="${escapeHtml(site.language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(fill(words.pageTitle, { title: site.title }))}</title>
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
  const home = `<p><a href="/">${escapeHtml(words.home)}</a></p>`;
  const form = `<form method="post"><input type="hidden" name="${ONE_CLICK.name}" value="${ONE_CLICK.value}"><input type="hidden" name="${FROM_PAGE}" value="1"><button>${escapeHtml(words.button)}</button></form>`;
  return {
    ask: page(words.title, words.text, form),
    done: page(words.doneTitle, words.doneText, home),
    unknown: page(words.unknownTitle, words.unknownText, home),
  };
}
