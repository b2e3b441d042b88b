import { escapeHtml } from '#server/platform/text.ts';
import type { PersonalData } from '#server/db/queries/personal-data.ts';
import { formatIfTime, formatSecond } from '#desk/shown-time.ts';
import { paperPage, type Letterhead } from '#desk/paper.ts';
import type { TimelineEntry } from '#desk/endpoints/people.ts';

export function personPage({
  email,
  data,
  timeline,
  site,
  writtenAt,
}: {
  email: string;
  data: PersonalData;
  timeline: readonly TimelineEntry[];
  site: Letterhead;
  writtenAt: string;
}): string {
  const filledTables = Object.entries(data).filter(([, rows]) => rows.length > 0);
  return paperPage({
    heading: `Data stored about ${email}`,
    site,
    about: `Written on ${formatSecond(writtenAt)}. All times are in UTC.`,
    body: `<h2>What happened</h2>
<ol>
${timeline.map(entryItem).join('\n')}
</ol>
<h2>Where the data is stored</h2>
<table>
<tr><th scope="col">Table</th><th scope="col">Rows</th></tr>
${filledTables.map(([table, rows]) => `<tr><td>${escapeHtml(table)}</td><td>${rows.length}</td></tr>`).join('\n')}
</table>
<p class="quiet">The JSON file written with this page contains the same data row by row.</p>`,
  });
}

const entryItem = ({ at, what, details }: TimelineEntry): string =>
  `<li><time datetime="${escapeHtml(at)}">${formatSecond(at)}</time><strong>${escapeHtml(sentenceCase(what))}</strong>${detailList(details)}</li>`;

function detailList(details: TimelineEntry['details']): string {
  const parts = Object.entries(details).map(
    ([name, value]) =>
      `<dt>${escapeHtml(sentenceCase(name))}</dt><dd>${escapeHtml(formatIfTime(value))}</dd>`,
  );
  return parts.length === 0 ? '' : `<dl>${parts.join('')}</dl>`;
}

const sentenceCase = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
