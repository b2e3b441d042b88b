import type { Endpoint } from '#desk/endpoints/endpoint.ts';
import * as figureEndpoints from '#desk/endpoints/figures.ts';
import * as peopleEndpoints from '#desk/endpoints/people.ts';
import { correct, erase, sendGuide, suppress, unsuppress } from '#desk/server/handlers/changes.ts';
import { createDayCounts } from '#desk/server/handlers/day-counts.ts';
import { createDoctor } from '#desk/server/handlers/doctor.ts';
import { createProof, exportFile, type FileEndpoint } from '#desk/server/handlers/files.ts';
import { createMail, retryWebhooks, suppressions, webhooks } from '#desk/server/handlers/mail.ts';
import {
  createChoices,
  createFindOrigins,
  domains,
  leadCount,
  lost,
  people,
  personDetails,
} from '#desk/server/handlers/people.ts';
import {
  createReportCache,
  createReport,
  createReportFile,
  createSendReport,
  reportReaders,
} from '#desk/server/handlers/report.ts';
import { createFindSample } from '#desk/server/handlers/to-do.ts';
import { createToday, figuresOf } from '#desk/server/handlers/today.ts';
import type { Handler } from '#desk/server/handler.ts';
import { createWriteCheck } from '#server/db/health.ts';
import type { Service } from '#server/startup/service.ts';

/** A missing handler does not compile. */
type HandlersOf<Module> = {
  readonly [Name in keyof Module as Module[Name] extends Endpoint<infer _, unknown> ? Name : never]: Handler<
    Module[Name]
  >;
};
export type Handlers = HandlersOf<typeof peopleEndpoints> & HandlersOf<typeof figureEndpoints>;

export type HandledEndpoint = {
  readonly endpoint: Endpoint<unknown, unknown>;
  readonly handle: Handler<Endpoint<unknown, unknown>>;
};

export function createHandlers(service: Service): {
  readonly handlers: Handlers;
  readonly endpoints: readonly HandledEndpoint[];
  readonly files: readonly FileEndpoint[];
  readonly warmUp: () => Promise<void>;
} {
  const findWriteFault = createWriteCheck(service.database, service.clock);
  const countEach = createDayCounts(service);
  const findSample = createFindSample(service);
  const findOrigins = createFindOrigins(service);
  const getReport = createReportCache(service);
  const { doctor, lastExamination } = createDoctor(service);
  const handlers: Handlers = {
    people,
    leadCount,
    personDetails,
    choices: createChoices(findOrigins),
    domains,
    correct,
    erase,
    suppress,
    unsuppress,
    sendGuide,
    lost,
    today: createToday({
      countEach,
      findSample,
      findWriteFault,
      findings: () => lastExamination()?.findings,
    }),
    report: createReport(getReport, findOrigins),
    reportReaders,
    sendReport: createSendReport(getReport),
    mail: createMail(findWriteFault),
    suppressions,
    webhooks,
    retryWebhooks,
    doctor,
  };
  const modules: Readonly<Record<string, unknown>> = { ...peopleEndpoints, ...figureEndpoints };
  return {
    handlers,
    endpoints: Object.entries(handlers).map(([name, handler]) => ({
      endpoint: modules[name] as HandledEndpoint['endpoint'],
      handle: handler as HandledEndpoint['handle'],
    })),
    files: [exportFile, createProof(), createReportFile(getReport)],
    warmUp: async () => {
      await figuresOf(service, countEach);
      await findSample();
    },
  };
}
