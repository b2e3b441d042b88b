import type * as endpoints from '#desk/endpoints/figures.ts';
import { REPORT_FILE_PATH, ReportQuery } from '#desk/endpoints/figures.ts';
import { changeAndLog } from '#desk/audit-log/audit-log.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type { FindOrigins } from '#desk/server/handlers/people.ts';
import { createCache } from '#desk/server/handlers/cache.ts';
import { pageResponse, readQuery, type FileEndpoint } from '#desk/server/handlers/files.ts';
import type { DeskContext, Handler } from '#desk/server/handler.ts';
import { readPeriod } from '#desk/report/period.ts';
import { reportBody, reportFile, reportTitle } from '#desk/report/report-html.ts';
import { PERIODS, reportOn, type Report } from '#desk/report/report.ts';
import { keyFigures } from '#desk/report/sentences.ts';
import { newIdAt } from '#server/db/engine/ids.ts';
import { queueReportMail } from '#server/mail/templates/report-on-request.ts';
import { MINUTE_MS } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';

type GetReport = (context: DeskContext, query: ReportQuery) => Promise<Report>;

/** Caches each report for a minute. A report continues even if its browser disconnects. */
export function createReportCache({ clock }: Pick<Service, 'clock'>): GetReport {
  const cache = createCache<Report>({ maxAgeMs: MINUTE_MS, maxEntries: 20, clock });
  return async ({ service, dnsServers }, { period: name, source, campaign, variant }) => {
    const period = readPeriod(name, clock(), service.config.timeZone);
    if (period === null) throw new CommandFailure(PERIODS, 2);
    const selection = {
      source: source || undefined,
      campaign: campaign || undefined,
      variant: variant || undefined,
    };
    return cache.get(JSON.stringify([name, period.from, selection]), async () => {
      const { signal } = new AbortController();
      const { report } = await reportOn(service, period, { selection, dnsServers, signal });
      return report;
    });
  };
}

export const createReport =
  (getReport: GetReport, findOrigins: FindOrigins): Handler<typeof endpoints.report> =>
  async (context, query) => {
    const report = await getReport(context, query);
    const { campaigns } = await findOrigins(context.service);
    return { title: reportTitle(report), html: reportBody(report), campaigns };
  };

export const createReportFile = (getReport: GetReport): FileEndpoint => ({
  path: REPORT_FILE_PATH,
  needs: 'read',
  handle: async (context, query) => {
    const report = await getReport(context, readQuery(ReportQuery, query));
    await context.log('downloaded-report', null, report.period.name);
    return pageResponse(fileOf(report, context.service), fileNameOf(report));
  },
});

const fileOf = (report: Report, { campaign }: Service): string =>
  reportFile(report, campaign.site.colors?.accent);

const fileNameOf = ({ period }: Report): string => `report-${period.name}.html`;

const deskUsersOf = ({ config }: Service): readonly string[] => [...(config.desk?.people.keys() ?? [])];

export const reportReaders: Handler<typeof endpoints.reportReaders> = async ({ service }) => ({
  emails: deskUsersOf(service),
});

export const createSendReport =
  (getReport: GetReport): Handler<typeof endpoints.sendReport> =>
  async (context, { to, ...query }) => {
    const { service, actor } = context;
    // Only desk users, so that nobody can send mail to strangers from here.
    if (!deskUsersOf(service).includes(to))
      throw new CommandFailure(`${to} is not a desk user. Add the address to DESK_PEOPLE, and restart.`);
    const report = await getReport(context, query);
    await changeAndLog(service, actor, async (tx, log) => {
      const now = service.clock();
      await queueReportMail(tx, {
        id: newIdAt(now),
        email: to,
        report: {
          subject: `${report.title}: ${reportTitle(report)}`,
          paragraphs: [
            `${reportTitle(report)}. Sent from the desk by ${actor.who}.`,
            ...keyFigures(report).map(({ name, value, change }) => `${name}: ${value}. ${change}`.trim()),
            'The attached file is the whole report. Open it in a browser.',
          ],
          file: { name: fileNameOf(report), html: fileOf(report, service) },
        },
        now,
      });
      await log('sent-report', to, report.period.name);
    });
    service.mail.wake();
    return {};
  };
