import { readFileSync } from 'node:fs';
import path from 'node:path';

import { escapeHtml } from '#server/platform/text.ts';

export type ShownMail = {
  readonly id: string;
  readonly kind: string;
  /** Milliseconds since 1970; null for a sample, which is never sent. */
  readonly at: number | null;
  readonly to: string;
  readonly from: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly headers: string;
  readonly code: string | null;
};

const TOKENS = readFileSync(path.resolve(import.meta.dirname, '..', 'web', 'styles', 'tokens.css'), 'utf8');

const STYLES = `
@font-face { font-family: Newsreader; src: url(/fonts/newsreader.woff2) format('woff2'); font-weight: 400 600; font-display: swap; }
@font-face { font-family: 'Hanken Grotesk'; src: url(/fonts/hanken-grotesk.woff2) format('woff2'); font-weight: 400 600; font-display: swap; }
* { box-sizing: border-box; margin: 0; }
html { background: var(--paper); color: var(--ink); font: 400 var(--text-m)/1.5 var(--sans); -webkit-text-size-adjust: 100%; }
body { display: grid; min-height: 100vh; grid-template: auto 1fr / minmax(17rem, 24rem) minmax(0, 1fr); }
header { grid-column: 1 / -1; display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; align-items: baseline; padding: 1rem var(--gutter); border-bottom: 1px solid var(--rule); }
h1, h2 { font-family: var(--serif); font-weight: 500; line-height: 1.15; letter-spacing: -0.01em; text-wrap: balance; overflow-wrap: anywhere; }
h1 { font-size: 1.625rem; }
header p { color: var(--muted); font-size: var(--text-s); }
a { color: var(--accent); text-underline-offset: 0.2em; }
header a, header button { margin-left: auto; font-size: var(--text-s); }
header a + button { margin-left: 0; }
button { min-height: 2.25rem; padding: 0 0.875rem; border: 1px solid var(--edge); border-radius: var(--radius); background: var(--card); color: inherit; font: 500 var(--text-s) var(--sans); cursor: pointer; }
button:hover { border-color: var(--accent); color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
nav { padding: 0.75rem 0 3rem; border-right: 1px solid var(--rule); }
nav h2 { padding: 1.25rem var(--gutter) 0.5rem; color: var(--muted); font: 600 0.75rem var(--sans); letter-spacing: 0.06em; text-transform: uppercase; }
nav ul { padding: 0; list-style: none; }
nav p { padding: 0.25rem var(--gutter); color: var(--muted); font-size: var(--text-s); }
nav li a { display: block; padding: 0.625rem var(--gutter); border-left: 3px solid transparent; color: inherit; text-decoration: none; }
nav li a:hover { background: var(--tint); }
nav li a[aria-current] { border-color: var(--accent); background: var(--tint); }
nav strong { display: block; overflow: hidden; font-weight: 600; text-overflow: ellipsis; white-space: nowrap; }
nav span { display: flex; gap: 1rem; justify-content: space-between; color: var(--muted); font-size: var(--text-s); }
nav span :first-child { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
time { font-variant-numeric: tabular-nums; }
main { min-width: 0; padding: 2rem var(--gutter) 4rem; }
main h2 { font-size: 1.875rem; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0.25rem 1.25rem; margin: 1rem 0 1.5rem; font-size: var(--text-s); }
dt { color: var(--muted); }
dd { overflow-wrap: anywhere; }
.code { display: flex; flex-wrap: wrap; gap: 1rem; align-items: center; margin: 0 0 1.5rem; }
.code output { font: 600 1.75rem/1.2 ui-monospace, Menlo, Consolas, monospace; letter-spacing: 0.15em; }
iframe { display: block; width: 100%; height: 34rem; border: 1px solid var(--rule); border-radius: var(--radius); background: #fff; }
iframe { color-scheme: light; }
.dark iframe { color-scheme: dark; background: #121212; }
details { margin-top: 1rem; }
summary { padding: 0.5rem 0; cursor: pointer; font-weight: 500; }
pre { padding: 1.25rem; border: 1px solid var(--rule); border-radius: var(--radius); background: var(--card); font: 400 0.8125rem/1.6 ui-monospace, Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
@media (max-width: 47.99rem) {
  body { display: block; }
  header a { margin-left: 0; }
  header button { margin-left: auto; }
  nav { padding-bottom: 1rem; border-right: 0; border-bottom: 1px solid var(--rule); }
  nav ul { max-height: 13rem; overflow-y: auto; }
  main { padding-top: 1.5rem; }
  iframe { height: 28rem; }
}
`;

const THEME = `
const dark = () => (localStorage.getItem('theme') ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
document.documentElement.classList.toggle('dark', dark());
`;

const SCRIPT = `
document.addEventListener('click', async ({ target }) => {
  if (target.id === 'theme') {
    localStorage.setItem('theme', dark() ? 'light' : 'dark');
    document.documentElement.classList.toggle('dark', dark());
  } else if (target.dataset.copy) {
    await navigator.clipboard.writeText(target.dataset.copy);
    target.textContent = 'Copied';
  }
});
let refreshing;
// Sends one request at a time, because an older response must not replace a newer one.
new EventSource('/inbox/events').onmessage = () => {
  refreshing = Promise.resolve(refreshing).then(refresh);
};
async function refresh() {
  // After an error, the next event refreshes the page.
  const text = await fetch(location.href).then((response) => response.text()).catch(() => null);
  if (text === null) return;
  const page = new DOMParser().parseFromString(text, 'text/html');
  const open = Array.from(document.querySelectorAll('details'), ({ open }) => open);
  for (const part of ['nav', 'main']) {
    const [next, current] = [page.querySelector(part), document.querySelector(part)];
    if (next.innerHTML !== current.innerHTML) current.innerHTML = next.innerHTML;
  }
  document.querySelectorAll('details').forEach((details, index) => { if (open[index]) details.open = true; });
}
`;

export function inboxPage(mails: readonly ShownMail[], chosen: string | null): string {
  const shown = mails.find(({ id }) => id === chosen) ?? mails[0];
  const received = mails.filter(({ at }) => at !== null);
  const samples = mails.filter(({ at }) => at === null);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${received.length > 0 ? `(${received.length}) ` : ''}Inbox</title>
<link rel="icon" href="/favicon.svg">
<style>${TOKENS}${STYLES}</style>
<script>${THEME}</script>
</head>
<body>
<header><h1>Inbox</h1><p>All e-mails sent during development. None of them leaves this machine.</p><a href="/">Go to the page</a><button id="theme" type="button">Light or dark</button></header>
<nav aria-label="E-mails">
<h2>Sent</h2>
${received.length > 0 ? list(received, shown) : '<p>Nothing yet. Request a code on the page to see its e-mail here.</p>'}
<h2>Samples of each kind</h2>
${list(samples, shown)}
</nav>
<main>${shown === undefined ? '' : mailHtml(shown)}</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

const list = (mails: readonly ShownMail[], shown: ShownMail | undefined): string =>
  `<ul>${mails
    .map(
      ({ id, subject, to, kind, at }) =>
        `<li><a href="/inbox?mail=${encodeURIComponent(id)}"${id === shown?.id ? ' aria-current="true"' : ''}><strong>${escapeHtml(subject)}</strong><span><span>${escapeHtml(to || kind)}</span>${timeHtml(at)}</span></a></li>`,
    )
    .join('')}</ul>`;

const timeHtml = (at: number | null): string =>
  at === null
    ? ''
    : `<time datetime="${new Date(at).toISOString()}">${new Date(at).toLocaleTimeString('en-GB')}</time>`;

function mailHtml({ kind, at, to, from, subject, text, html, headers, code }: ShownMail): string {
  const facts = [
    ['From', escapeHtml(from)],
    ['To', escapeHtml(to)],
    ['Sent', timeHtml(at)],
    [
      'Kind',
      `${escapeHtml(kind)}${at === null ? ', with sample data; updates when you save campaign/emails/' : ''}`,
    ],
  ].filter(([, value]) => value !== '');
  return `<h2>${escapeHtml(subject)}</h2>
<dl>${facts.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join('')}</dl>
${code === null ? '' : `<p class="code"><output>${code}</output><button type="button" data-copy="${code}">Copy code</button></p>`}
${html === '' ? '' : `<iframe title="The e-mail as HTML" sandbox="allow-popups allow-popups-to-escape-sandbox" srcdoc="${escapeHtml(html.replace('<head>', '<head><base target="_blank">'))}"></iframe>`}
<details${html === '' ? ' open' : ''}><summary>As plain text</summary><pre>${escapeHtml(text)}</pre></details>
${headers === '' ? '' : `<details><summary>Headers</summary><pre>${escapeHtml(headers)}</pre></details>`}`;
}
