// The report as one HTML file that needs no other file and no network, to be read, mailed and printed.
import { escapeHtml } from '#server/platform/escape-html.ts';
import { drawChart, isWide, NARROW, WIDE } from '#desk/report/charts.ts';
import type { Report } from '#desk/report/report.ts';
import { legendOf, type Legend } from '#desk/report/legends.ts';
import { keyFigures, longDay, notes, scopeInWords } from '#desk/report/sentences.ts';
import { sectionsOf, type Section } from '#desk/report/sections.ts';
import { ACCENT, type ColourPair } from '#shared/colours.ts';

const styles = ({ light, dark }: ColourPair): string => `
  :root {
    color-scheme: light dark;
    --paper: #fdfcf9; --text: #1d1f1e; --muted: #5b605d; --line: #e2e0d8;
    --accent: ${light}; --quiet-bar: color-mix(in srgb, var(--accent) 30%, var(--paper));
    --serif: ui-serif, "Iowan Old Style", "Palatino Linotype", Georgia, serif;
  }
  @media screen and (prefers-color-scheme: dark) {
    :root { --paper: #141716; --text: #eceae4; --muted: #a3a8a4; --line: #2c312f; --accent: ${dark}; --quiet-bar: color-mix(in srgb, var(--accent) 38%, var(--paper)); }
  }
  * { box-sizing: border-box; }
  body { margin: 0; background: var(--paper); color: var(--text); font: 16px/1.5 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-variant-numeric: tabular-nums; -webkit-text-size-adjust: 100%; }
  main { max-width: 64rem; margin: 0 auto; padding: clamp(1.5rem, 5vw, 4rem) clamp(1.25rem, 4vw, 2.5rem) 4rem; }
  h1 { font: 500 clamp(1.9rem, 1.4rem + 2vw, 2.75rem)/1.15 var(--serif); letter-spacing: -.01em; margin: 0; text-wrap: balance; overflow-wrap: anywhere; }
  p { margin: 0; }
  .of { color: var(--muted); margin: 0 0 .5rem; }
  .key { display: grid; grid-template-columns: repeat(4, 1fr); gap: 1.5rem 2rem; margin: 2.5rem 0 0; padding: 1.5rem 0 0; border-top: 2px solid var(--accent); }
  .key div { display: flex; flex-direction: column; }
  .key dt { font-size: .875rem; color: var(--muted); }
  .key dd { margin: 0; }
  .key .value { font: 500 2.25rem/1.2 var(--serif); font-variant-numeric: lining-nums tabular-nums; }
  .key .change { font-size: .875rem; line-height: 1.4; color: var(--muted); margin-top: .25rem; text-wrap: pretty; }
  .sections { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 3.5rem 3rem; margin-top: 3.5rem; }
  section { min-width: 0; }
  .stack { display: grid; gap: 3.5rem; align-content: start; min-width: 0; }
  section.wide { grid-column: 1 / -1; }
  h2 { font-size: .875rem; font-weight: 500; color: var(--muted); margin: 0 0 .25rem; }
  .finding { font: 500 1.375rem/1.3 var(--serif); text-wrap: pretty; margin: 0 0 1rem; overflow-wrap: anywhere; }
  svg { display: block; width: 100%; height: auto; }
  .for-wide svg { max-width: ${WIDE + 160}px; }
  .for-narrow svg { max-width: ${NARROW + 50}px; }
  .wide .for-narrow { display: none; }
  .legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; margin: 0 0 .5rem; padding: 0; font-size: .875rem; color: var(--muted); }
  .legend-of-lines { font-size: .875rem; color: var(--muted); margin: 0 0 .5rem; }
  .legend li::before { content: ""; display: inline-block; width: .75rem; height: .75rem; border-radius: 2px; margin-right: .45rem; vertical-align: -.05rem; background: var(--accent); }
  .legend li.quiet::before { background: var(--quiet-bar); }
  details { margin-top: .75rem; font-size: .9375rem; }
  summary { cursor: pointer; color: var(--accent); width: fit-content; padding: .25rem 0; }
  summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; border-radius: 2px; }
  .scroll { overflow-x: auto; }
  table { border-collapse: collapse; width: 100%; margin-top: .5rem; }
  th, td { text-align: right; padding: .35rem 0 .35rem .875rem; border-top: 1px solid var(--line); white-space: nowrap; font-weight: 400; }
  thead th { border-top: 0; color: var(--muted); font-size: .8125rem; }
  th:first-child { text-align: left; padding-left: 0; }
  tbody th { white-space: normal; overflow-wrap: break-word; min-width: 6.5rem; max-width: 14rem; }
  .funnel thead th { white-space: normal; }
  .day tbody th { white-space: nowrap; min-width: 0; }
  footer { margin-top: 4rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--muted); font-size: .875rem; max-width: none; }
  footer p { max-width: 44rem; margin-bottom: .35rem; }
  @media (max-width: 60rem) { .key { grid-template-columns: repeat(2, 1fr); } }
  @media screen and (max-width: 47rem) {
    .sections { grid-template-columns: minmax(0, 1fr); gap: 3rem; }
    .wide .for-narrow { display: block; }
    .wide .for-wide { display: none; }
  }
  @media screen and (max-width: 26rem) { details { font-size: .875rem; } .key { gap: 1.5rem 1rem; } .key .value { font-size: 1.875rem; } th, td { padding-left: .5rem; } tbody th { min-width: 5rem; } thead th { white-space: normal; vertical-align: bottom; } }
  @media (forced-colors: active) {
    :root { --text: CanvasText; --muted: CanvasText; --line: CanvasText; --accent: Highlight; --quiet-bar: GrayText; }
    .legend li::before { forced-color-adjust: none; }
  }
  @media print {
    @page { margin: 16mm; }
    :root { --paper: #fff; --text: #000; --muted: #444; --line: #ccc; --quiet-bar: color-mix(in srgb, var(--accent) 26%, #fff); }
    * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
    body { font-size: 10.5pt; }
    main { padding: 0; max-width: none; }
    .key { grid-template-columns: repeat(4, 1fr); gap: 0 1rem; }
    .key .value { font-size: 1.6rem; }
    .sections { gap: 2rem; }
    section, footer { break-inside: avoid; }
    summary { display: none; }
    table { font-size: 8pt; }
    /* What does not fit cannot be scrolled to on paper. */
    .scroll { overflow: visible; }
    thead th { white-space: normal; font-size: inherit; vertical-align: bottom; }
    tbody th { overflow-wrap: anywhere; min-width: 0; }
    th, td { padding-block: .15rem; padding-left: .5rem; }
    details::details-content { content-visibility: visible; height: auto; }
  }
`;

/**
 * @param accent the campaign's own colour; the design's if there is none
 * @returns one document: no script, no other file
 */
export function reportAsHtml(report: Report, accent: ColourPair = ACCENT): string {
  const span = scopeInWords(report);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Leads, ${escapeHtml(span)}</title>
<style>${styles(accent)}</style>
</head>
<body>
<main>
<header>
<p class="of">${escapeHtml(report.title)}</p>
<h1>Leads, ${escapeHtml(span)}</h1>
<dl class="key">
${keyFigures(report)
  .map(
    ({ name, value, change }) =>
      `<div><dt>${escapeHtml(name)}</dt><dd class="value">${unbroken(value)}</dd><dd class="change">${unbroken(change)}</dd></div>`,
  )
  .join('\n')}
</dl>
</header>
<div class="sections">
${inColumns(sectionsOf(report), report)}
</div>
<footer>
${notes(report)
  .map((note) => `<p>${escapeHtml(note)}</p>`)
  .join('\n')}
<p>Written on ${escapeHtml(longDay(report.writtenAt))} at ${escapeHtml(report.writtenAt.slice(11, 16))} UTC.</p>
</footer>
</main>
</body>
</html>
`;
}

/**
 * The sources stand on the left; the two sections after them on the right, one below the other. Answers follow, two in a row. In a
 * report on one source, the two stand side by side.
 */
function inColumns(sections: readonly Section[], report: Report): string {
  const at = sections.findIndex(({ chart }) => chart === 'source') + 1;
  const answersAt = sections.filter(({ chart }) => chart !== 'answer' && chart !== 'variant').length;
  const html = sections.map((section) => sectionAsHtml(section, report));
  if (at === 0) return html.join('\n');
  return [
    ...html.slice(0, at),
    '<div class="stack">',
    ...html.slice(at, answersAt),
    '</div>',
    ...html.slice(answersAt),
  ].join('\n');
}

function sectionAsHtml(section: Section, report: Report): string {
  const { chart, title, sentence, rows } = section;
  const hasWide = isWide(section);
  const narrow = drawChart(section, NARROW);
  const wide = hasWide ? drawChart(section, WIDE) : null;
  // Hidden from screen readers: the sentence and the table say the same in words.
  const figure = (svg: string | null, size: string) =>
    svg === null ? '' : `<div class="${size}" aria-hidden="true">${svg}</div>`;
  return `<section class="${chart}${hasWide ? ' wide' : ''}">
<h2>${escapeHtml(title)}</h2>
<p class="finding">${unbroken(sentence)}</p>
${narrow === null ? '\n\n' : legendAsHtml(legendOf(section, report))}
${figure(wide, 'for-wide')}
${figure(narrow, 'for-narrow')}
${rows.length === 0 ? '' : tableAsHtml(section)}
</section>`;
}

const legendAsHtml = ({ bars, behindEachBar }: Legend): string =>
  [
    bars === null
      ? ''
      : `<ul class="legend" aria-hidden="true"><li>${bars.value}</li><li class="quiet">${bars.rest}</li></ul>`,
    behindEachBar === null
      ? ''
      : `<p class="legend-of-lines" aria-hidden="true">Behind each bar: ${behindEachBar}</p>`,
  ].join('\n');

const tableAsHtml = ({ title, columns, rows }: Section): string => `<details>
<summary>Table: ${escapeHtml(title)}</summary>
<div class="scroll"><table>
<thead><tr>${columns.map((column) => `<th scope="col">${escapeHtml(column)}</th>`).join('')}</tr></thead>
<tbody>
${rows
  .map(
    ([name = '', ...cells]) =>
      `<tr><th scope="row">${escapeHtml(name)}</th>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`,
  )
  .join('\n')}
</tbody>
</table></div>
</details>`;

/** A number stays beside its unit. */
const unbroken = (sentence: string): string =>
  escapeHtml(sentence).replaceAll(/(\d) (?=(?:s|min|h|points?)\b)/g, '$1&nbsp;');
