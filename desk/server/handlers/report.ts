import { REPORT_FILE_PATH, ReportAsked, type report as reportCall } from '#desk/endpoints/figures.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type { FindOrigins } from '#desk/server/handlers/choices.ts';
import { createKept } from '#desk/server/handlers/cache.ts';
import { pageAnswer, readQuery, type FileCall } from '#desk/server/handlers/files.ts';
import type { DeskContext, Handler } from '#desk/server/handler.ts';
import { readPeriod } from '#desk/report/period.ts';
import { reportBody, reportFile, reportTitle } from '#desk/report/report-html.ts';
import { PERIODS, reportOn } from '#desk/report/report-on.ts';
import type { Report } from '#desk/report/report.ts';
import { MINUTE_MS } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';

type Gather = (context: DeskContext, asked: ReportAsked) => Promise<Report>;

/** Caches each report for a minute. A report continues even if its browser disconnects. */
export function createGather({ clock }: Pick<Service, 'clock'>): Gather {
  const kept = createKept<Report>({ keptMs: MINUTE_MS, most: 20, clock });
  return async ({ service, dnsServers }, { period: name, source, campaign, variant }) => {
    const period = readPeriod(name, clock(), service.config.timeZone);
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

export const createReport =
  (gather: Gather, findOrigins: FindOrigins): Handler<typeof reportCall> =>
  async (context, asked) => {
    const report = await gather(context, asked);
    const { campaigns } = await findOrigins(context.service);
    return { title: reportTitle(report), html: reportBody(report), campaigns };
  };

export const createReportFile = (gather: Gather): FileCall => ({
  path: REPORT_FILE_PATH,
  needs: 'read',
  handle: async (context, query) => {
    const report = await gather(context, readQuery(ReportAsked, query));
    await context.note('downloaded-report', null, report.period.name);
    const html = reportFile(report, context.service.campaign.site.colors?.accent);
    return pageAnswer(html, `report-${report.period.name}.html`);
  },
});
