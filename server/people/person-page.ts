// All that is held about somebody, as a page to print: for an answer under Article 15 of the GDPR.
import { escapeHtml } from '#server/escape-html.ts';
import type { PersonalData } from '#server/db/personal-data.ts';
import type { StoryEntry } from '#server/people/story.ts';

const STYLES = `
  :root { color-scheme: light dark; }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1.25rem; }
  h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
  h2 { font-size: 1.15rem; margin: 2.5rem 0 .75rem; }
  .quiet { opacity: .72; margin: 0; }
  ol { list-style: none; padding: 0; margin: 0; }
  li { border-top: 1px solid color-mix(in srgb, currentColor 18%, transparent); padding: .75rem 0; break-inside: avoid; }
  time { font-variant-numeric: tabular-nums; opacity: .72; display: block; font-size: .875rem; }
  dl { display: grid; grid-template-columns: minmax(9rem, auto) 1fr; gap: .15rem 1rem; margin: .4rem 0 0; font-size: .9375rem; }
  dt { opacity: .72; }
  dd { margin: 0; overflow-wrap: anywhere; }
  table { border-collapse: collapse; width: 100%; font-size: .9375rem; }
  td, th { text-align: left; padding: .3rem .75rem .3rem 0; border-top: 1px solid color-mix(in srgb, currentColor 18%, transparent); }
  td:last-child, th:last-child { text-align: right; padding-right: 0; font-variant-numeric: tabular-nums; }
  @media (max-width: 30rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .35rem; } }
  @media print { body { margin: 0; max-width: none; font-size: 11pt; } }
`;

/**
 * @param writtenAt ISO 8601
 * @returns one document that needs no other file
 */
export function personPage({
  email,
  data,
  story,
  title,
  writtenAt,
}: {
  email: string;
  data: PersonalData;
  story: readonly StoryEntry[];
  title: string;
  writtenAt: string;
}): string {
  const held = Object.entries(data).filter(([, rows]) => rows.length > 0);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>What is held about ${escapeHtml(email)}</title>
<style>${STYLES}</style>
<h1>What is held about ${escapeHtml(email)}</h1>
<p class="quiet">${escapeHtml(title)}. Written on ${said(writtenAt)}. All times are in UTC.</p>
<h2>What happened</h2>
<ol>
${story.map(entryOf).join('\n')}
</ol>
<h2>Where it is kept</h2>
<table>
<tr><th scope="col">Table</th><th scope="col">Rows</th></tr>
${held.map(([table, rows]) => `<tr><td>${escapeHtml(table)}</td><td>${rows.length}</td></tr>`).join('\n')}
</table>
<p class="quiet">The same, row by row, is in the JSON file that was written with this page.</p>
</html>
`;
}

const entryOf = ({ at, what, details }: StoryEntry): string =>
  `<li><time datetime="${escapeHtml(at)}">${said(at)}</time><strong>${escapeHtml(sentenceCase(what))}</strong>${detailsOf(details)}</li>`;

function detailsOf(details: StoryEntry['details']): string {
  const parts = Object.entries(details).map(
    ([name, value]) => `<dt>${escapeHtml(sentenceCase(name))}</dt><dd>${escapeHtml(value)}</dd>`,
  );
  return parts.length === 0 ? '' : `<dl>${parts.join('')}</dl>`;
}

const sentenceCase = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** 2026-11-21 09:30:05 */
const said = (iso: string): string => escapeHtml(iso.slice(0, 19).replace('T', ' '));
