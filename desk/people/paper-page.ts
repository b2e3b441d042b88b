import { escapeHtml } from '#server/platform/text.ts';

export const PAPER_STYLES = `
  :root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1.25rem; }
  h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
  h2 { font-size: 1.15rem; margin: 2.5rem 0 .75rem; break-after: avoid; }
  .quiet { opacity: .72; margin: 0; }
  table + .quiet { margin-top: .75rem; }
  blockquote { margin: 0 0 1rem; padding: .25rem 0 .25rem 1rem; border-left: 3px solid var(--line); }
  ol { list-style: none; padding: 0; margin: 0; }
  li { border-top: 1px solid var(--line); padding: .75rem 0; break-inside: avoid; }
  time { font-variant-numeric: tabular-nums; opacity: .72; display: block; font-size: .875rem; }
  dl { display: grid; grid-template-columns: minmax(9rem, auto) 1fr; gap: .15rem 1rem; margin: .4rem 0 0; font-size: .9375rem; }
  dt { opacity: .72; }
  dd { margin: 0; overflow-wrap: anywhere; }
  table { border-collapse: collapse; width: 100%; font-size: .9375rem; }
  td, th { text-align: left; padding: .3rem .75rem .3rem 0; border-top: 1px solid var(--line); }
  td:last-child, th:last-child { text-align: right; padding-right: 0; font-variant-numeric: tabular-nums; }
  @media (max-width: 30rem) { h1 { font-size: 1.35rem; } dl { grid-template-columns: 1fr; } dd { margin-bottom: .35rem; } }
  @media print { body { margin: 0; max-width: none; font-size: 11pt; } }
`;

export const paperPage = ({
  heading,
  about,
  body,
}: {
  heading: string;
  about: string;
  body: string;
}): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${escapeHtml(heading)}</title>
<style>${PAPER_STYLES}</style>
<h1>${escapeHtml(heading).replaceAll('@', '@<wbr>')}</h1>
<p class="quiet">${escapeHtml(about)}</p>
${body}
</html>
`;
