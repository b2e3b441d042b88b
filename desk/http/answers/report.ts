// The report, live and as a file.
import { setImmediate } from 'node:timers/promises';

import {
  REPORT_FILE_PATH,
  ReportAsked,
  type report as reportCall,
  type ReportShown,
} from '#desk/calls/figures.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type { FindOrigins } from '#desk/http/answers/choices.ts';
import { createKept } from '#desk/http/answers/kept.ts';
import { pageAnswer, readQuery, type FileCall } from '#desk/http/answers/files.ts';
import type { DeskContext, Handler } from '#desk/http/handler.ts';
import { legendOf } from '#desk/report/legends.ts';
import { readPeriod } from '#desk/report/period.ts';
import { PERIODS, reportOn } from '#desk/report/report-on.ts';
import type { Report } from '#desk/report/report.ts';
import { sectionsOf } from '#desk/report/sections.ts';
import { keyFigures, notes, scopeInWords } from '#desk/report/sentences.ts';
import { MINUTE_MS } from '#server/platform/time.ts';
import type { Service } from '#server/run/service.ts';

type Gather = (context: DeskContext, asked: ReportAsked) => Promise<Report>;

/** Makes what gathers reports, and keeps each for a minute. A report that is being gathered ends, also when its browser goes away. */
export function createGather({ clock }: Pick<Service, 'clock'>): Gather {
  const kept = createKept<Report>({ keptMs: MINUTE_MS, most: 20, clock });
  return ({ service, dnsServers }, { period: name, source, campaign, variant }) => {
    const period = readPeriod(name, clock());
    if (period === null) throw new CommandFailure(PERIODS, 2);
    const wanted = {
      source: source || undefined,
      campaign: campaign || undefined,
      variant: variant || undefined,
    };
    return kept.get(JSON.stringify([name, wanted]), async () => {
      const { signal } = new AbortController();
      const { report } = await reportOn(service, period, { wanted, dnsServers, signal });
      return report;
    });
  };
}

type Drawn = Omit<ReportShown, 'campaigns'>;

/** Makes the answer, which is drawn once for as long as a report is kept. */
export function createReport(gather: Gather, findOrigins: FindOrigins): Handler<typeof reportCall> {
  const drawn = new WeakMap<Report, Promise<Drawn>>();
  return async (context, asked) => {
    const report = await gather(context, asked);
    const { campaigns } = await findOrigins(context.service);
    const drawing = drawn.get(report) ?? draw(report);
    drawn.set(report, drawing);
    drawing.catch(() => drawn.delete(report));
    return { ...(await drawing), campaigns };
  };
}

async function draw(report: Report): Promise<Drawn> {
  // Loaded here only: the library that draws is large.
  const { drawChart, NARROW, WIDE, isWide } = await import('#desk/report/charts.ts');
  const sections: Drawn['sections'][number][] = [];
  for (const section of sectionsOf(report)) {
    sections.push({
      heading: section.title,
      text: section.sentence,
      svg: drawChart(section, NARROW),
      wideSvg: isWide(section) ? drawChart(section, WIDE) : null,
      ...legendOf(section, report),
      table: section.rows.length === 0 ? null : { head: section.columns, rows: section.rows },
    });
    // Others are answered between two drawings.
    await setImmediate();
  }
  return {
    title: `Leads, ${scopeInWords(report)}`,
    period: report.period,
    figures: keyFigures(report),
    sections,
    notes: notes(report),
  };
}

export const createReportFile = (gather: Gather): FileCall => ({
  path: REPORT_FILE_PATH,
  needs: 'read',
  handle: async (context, query) => {
    const report = await gather(context, readQuery(ReportAsked, query));
    const { reportAsHtml } = await import('#desk/report/report-page.ts');
    await context.note('downloaded-report', null, report.period.name);
    const html = reportAsHtml(report, context.service.campaign.site.colors?.accent);
    return pageAnswer(html, `report-${report.period.name}.html`);
  },
});
