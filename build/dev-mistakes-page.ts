import { escapeHtml } from '#server/platform/text.ts';

/** Replaces the page of `npm run dev` until the words are valid. Vite's client reloads it whenever a file is saved. */
export function mistakesPage(mistakes: readonly string[]): string {
  const count = mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>The campaign contains ${count}</title>
<style>
body { max-width: 46rem; margin: 3rem auto; padding: 0 1.25rem; font: 1rem/1.5 system-ui, sans-serif }
h1 { font-size: 1.5rem }
ol { padding: 0; list-style: none }
li { margin: 1rem 0; padding: 0.75rem 1rem; border-inline-start: 4px solid #c2410c; background: #c2410c14 }
code { display: block; font-size: 0.875rem; overflow-wrap: anywhere; white-space: pre-wrap }
</style>
<script type="module" src="/@vite/client"></script>
</head>
<body>
<main role="alert">
<h1>The campaign contains ${count}</h1>
<p>Correct the lines below, and save. Your page then appears here again. Visitors of your published site notice nothing.</p>
<ol>
${mistakes.map(item).join('\n')}
</ol>
</main>
</body>
</html>`;
}

function item(mistake: string): string {
  const [, file, line, message = mistake] =
    /^(\S[^:\n]*\.\w+)(?::(\d+))?(?::\d+)?: (.+)$/s.exec(mistake) ?? [];
  const place = file === undefined ? '' : file + (line === undefined ? '' : `, line ${line}`);
  return `<li>${place === '' ? '' : `<code>${escapeHtml(place)}</code> `}${escapeHtml(message)}</li>`;
}
