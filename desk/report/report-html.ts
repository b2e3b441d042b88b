// Renders the report for the desk, and as a self-contained file. Bars are SVG, because the desk's policy forbids inline styles.
import { readFileSync } from 'node:fs';
import path from 'node:path';

import type { Report } from '#desk/report/report.ts';
import { keyFigures, longDay, notes, number, scopeInWords, shortDay } from '#desk/report/sentences.ts';
import { formatMinute } from '#desk/shown-time.ts';
import { sectionsOf, type Section, type SectionRow } from '#desk/report/sections.ts';
import { escapeHtml } from '#server/platform/text.ts';
import { fontFaces, paperTokens } from '#desk/paper.ts';
import { ACCENT, type ColourPair } from '#shared/colours.ts';

export function reportFile(report: Report, accent: ColourPair = ACCENT): string {
  const title = escapeHtml(reportTitle(report));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; font-src data:">
<title>${title}</title>
<style>${fontFaces()}${paperTokens(accent)}${PAGE_STYLES}${readFileSync(REPORT_STYLES, 'utf8')}</style>
</head>
<body>
<main class="report">
<header>
<p class="report-of">${escapeHtml(report.title)}</p>
<h1>${title}</h1>
</header>
${reportBody(report)}
<p class="report-notes">Written on ${escapeHtml(longDay(report.writtenAt, report.timeZone))} at ${escapeHtml(formatMinute(report.writtenAt, report.timeZone).slice(11))} (${escapeHtml(report.timeZone)}).</p>
</main>
</body>
</html>
`;
}

export const reportTitle = (report: Report): string => `Leads, ${scopeInWords(report)}`;

export const reportBody = (report: Report): string => `<dl class="report-figures">
${keyFigures(report)
  .map(
    ({ name, value, change }) =>
      `<div><dt>${escapeHtml(name)}</dt><dd class="report-value">${keepUnitsTogether(value)}</dd><dd>${keepUnitsTogether(change)}</dd></div>`,
  )
  .join('\n')}
</dl>
<div class="report-sections">
${sectionsOf(report).map(sectionHtml).join('\n')}
</div>
<div class="report-notes">
${notes(report)
  .map((note) => `<p>${keepUnitsTogether(note)}</p>`)
  .join('\n')}
</div>`;

const keepUnitsTogether = (sentence: string): string =>
  escapeHtml(sentence).replaceAll(/(\d) (?=(?:s|min|h)\b)/g, '$1&nbsp;');

const MAX_UNFOLDED_DAYS = 14;

function sectionHtml(section: Section, at: number): string {
  const { kind, title, sentence, groups } = section;
  const id = `report-${at + 1}`;
  const rows = groups.flatMap((group) => group.rows);
  return `<section class="report-${kind}" aria-labelledby="${id}">
<h2 id="${id}">${escapeHtml(title)}</h2>
<p class="report-finding">${keepUnitsTogether(sentence)}</p>
${kind === 'day' ? `<div class="report-chart">${legendHtml(section)}${daysSvg(rows)}</div>` : ''}
${kind === 'day' && rows.length > MAX_UNFOLDED_DAYS ? collapsed(title, tableHtml(section)) : rows.length > 0 ? tableHtml(section) : ''}
</section>`;
}

const collapsed = (title: string, table: string): string =>
  `<details><summary>Table: ${escapeHtml(title)}</summary>${table}</details>`;

const tableHtml = (section: Section): string =>
  `<div class="report-scroll" tabindex="0" role="group" aria-label="Table: ${escapeHtml(section.title)}"><table>
<caption>${section.kind === 'day' ? escapeHtml(section.title) : legendHtml(section)}</caption>
<thead><tr>${section.columns.map((column) => `<th scope="col">${escapeHtml(column)}</th>`).join('')}</tr></thead>
${section.groups.map((group) => groupHtml(group, section)).join('\n')}
</table></div>`;

function groupHtml({ name, rows }: Section['groups'][number], { kind, columns }: Section): string {
  const longest = maxTotal(rows);
  const heading =
    name === null
      ? ''
      : `<tr class="report-group"><th scope="rowgroup" colspan="${columns.length}">${escapeHtml(name)}</th></tr>`;
  return `<tbody>${heading}
${rows
  .map((row) => rowHtml(row) + (kind === 'day' || longest === 0 ? '' : barHtml(row, longest, columns.length)))
  .join('\n')}
</tbody>`;
}

const maxTotal = (rows: readonly SectionRow[]): number =>
  Math.max(0, ...rows.map(({ value, rest }) => value + rest));

const rowHtml = ({ cells: [name = '', ...figures] }: SectionRow): string =>
  `<tr><th scope="row">${escapeHtml(name)}</th>${figures.map((figure) => `<td>${escapeHtml(figure)}</td>`).join('')}</tr>`;

const barHtml = ({ value, rest }: SectionRow, longest: number, columns: number): string =>
  `<tr class="report-bar" aria-hidden="true"><td colspan="${columns}"><svg width="100%" height="6">${
    rectangle(0, (100 * value) / longest, 'value') +
    rectangle((100 * value) / longest, (100 * rest) / longest, 'rest')
  }</svg></td></tr>`;

const rectangle = (left: number, width: number, colour: 'value' | 'rest'): string =>
  width === 0
    ? ''
    : `<rect class="${colour}" x="${left.toFixed(2)}%" width="${width.toFixed(2)}%" height="6"/>`;

const legendHtml = ({ legend: { value, rest } }: Section): string =>
  [
    ...(value === null ? [] : [`<span class="report-legend value">${value}</span>`]),
    ...(rest === null ? [] : [`<span class="report-legend rest">${rest}</span>`]),
  ].join(' ');

const DAYS_HEIGHT = 150;
/** In pixels. */
const FIGURE_HEIGHT = 20;
const MAX_DAYS_WITH_FIGURES = 14;
const MAX_DAY_NAMES = 8;
const MIN_SLOTS = 7;

/** Positions are percentages, so text keeps its size at every width. */
function daysSvg(rows: readonly SectionRow[]): string {
  const longest = maxTotal(rows);
  if (longest === 0) return '';
  const maxLeads = Math.max(...rows.map(({ value }) => value));
  const best = rows.findIndex(({ value }) => value === maxLeads);
  const slot = 100 / Math.max(rows.length, MIN_SLOTS);
  const nameStep = Math.ceil(rows.length / MAX_DAY_NAMES);
  const last = rows.length - 1;
  const yOf = (count: number) => FIGURE_HEIGHT + DAYS_HEIGHT * (1 - count / longest);
  const column = (at: number, from: number, to: number, colour: 'value' | 'rest') =>
    from === to
      ? ''
      : `<rect class="${colour}" x="${(slot * (at + 0.2)).toFixed(2)}%" width="${(slot * 0.6).toFixed(2)}%" y="${yOf(to).toFixed(1)}" height="${(yOf(from) - yOf(to)).toFixed(1)}"/>`;
  const columns = rows.map(({ cells: [day = ''], value, rest }, at) => {
    const hasFigure = rows.length <= MAX_DAYS_WITH_FIGURES || at === best || at === last;
    return [
      column(at, 0, value, 'value'),
      column(at, value, value + rest, 'rest'),
      hasFigure ? textAt(slot * (at + 0.5), yOf(value) - 6, number(value), 'figure') : '',
      at === last || (at % nameStep === 0 && at <= last - nameStep)
        ? textAt(
            slot * (at + 0.5),
            DAYS_HEIGHT + FIGURE_HEIGHT + 20,
            shortDay(day),
            at === last || (at % (2 * nameStep) === 0 && at <= last - 2 * nameStep) ? 'name' : 'name second',
          )
        : '',
    ].join('');
  });
  const base = DAYS_HEIGHT + FIGURE_HEIGHT;
  return `<svg class="report-days" aria-hidden="true" width="100%" height="${base + 26}">${columns.join('\n')}<line x2="100%" y1="${base}" y2="${base}"/></svg>`;
}

/** @param x position in percent */
function textAt(x: number, y: number, text: string, className: string): string {
  // Names of days are wider than bars, so the outermost ones would be cut off.
  const isWide = className !== 'figure';
  const [left, anchor] = isWide && x < 6 ? [0, 'start'] : isWide && x > 94 ? [100, 'end'] : [x, 'middle'];
  return `<text class="${className}" text-anchor="${anchor}" x="${left.toFixed(2)}%" y="${y.toFixed(1)}">${escapeHtml(text)}</text>`;
}

const REPORT_STYLES = path.join(import.meta.dirname, '..', 'web', 'report', 'report.css');

const PAGE_STYLES = `
* { box-sizing: border-box; margin: 0; }
body { background: var(--paper); color: var(--ink); font: 1rem/1.5 var(--sans); font-variant-numeric: tabular-nums; -webkit-text-size-adjust: 100%; }
main { max-width: 69rem; margin: 0 auto; padding: clamp(1.5rem, 5vw, 4rem) clamp(1.25rem, 4vw, 2.5rem); }
h1 { font: 500 clamp(1.9rem, 1.4rem + 2vw, 2.75rem)/1.15 var(--serif); letter-spacing: -.01em; text-wrap: balance; overflow-wrap: anywhere; }
.report-of { color: var(--muted); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; border-radius: 2px; }
@media print { @page { size: A4; margin: 14mm 16mm; } :root { --paper: #fff; --ink: #000; --muted: #444; --rule: #ccc; } body { font-size: 10pt; } main { padding: 0; max-width: none; } h1 { font-size: 22pt; } }
`;
