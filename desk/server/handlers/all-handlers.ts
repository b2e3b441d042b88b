import type { Call } from '#desk/endpoints/endpoint.ts';
import * as figureCalls from '#desk/endpoints/figures.ts';
import * as peopleCalls from '#desk/endpoints/people.ts';
import { correct, erase, sendGuide, suppress, unsuppress } from '#desk/server/handlers/changes.ts';
import { createDayCounts } from '#desk/server/handlers/day-counts.ts';
import { createDoctor } from '#desk/server/handlers/doctor.ts';
import { createProof, exported, type FileCall } from '#desk/server/handlers/files.ts';
import { createMail, retryWebhooks, suppressions, webhooks } from '#desk/server/handlers/mail.ts';
import {
  createChoices,
  createFindOrigins,
  domains,
  leadCount,
  lost,
  people,
  story,
} from '#desk/server/handlers/people.ts';
import {
  createGather,
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
  readonly [Name in keyof Module as Module[Name] extends Call<infer _, unknown> ? Name : never]: Handler<
    Module[Name]
  >;
};
export type Handlers = HandlersOf<typeof peopleCalls> & HandlersOf<typeof figureCalls>;

export type HandledCall = {
  readonly call: Call<unknown, unknown>;
  readonly handle: Handler<Call<unknown, unknown>>;
};

export function createHandlers(service: Service): {
  readonly handlers: Handlers;
  readonly calls: readonly HandledCall[];
  readonly files: readonly FileCall[];
  readonly warmUp: () => Promise<void>;
} {
  const findWriteFault = createWriteCheck(service.database, service.clock);
  const countEach = createDayCounts(service);
  const findSample = createFindSample(service);
  const findOrigins = createFindOrigins(service);
  const gather = createGather(service);
  const { doctor, last } = createDoctor(service);
  const handlers: Handlers = {
    people,
    leadCount,
    story,
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
      findings: () => last()?.findings,
    }),
    report: createReport(gather, findOrigins),
    reportReaders,
    sendReport: createSendReport(gather),
    mail: createMail(findWriteFault),
    suppressions,
    webhooks,
    retryWebhooks,
    doctor,
  };
  const modules: Readonly<Record<string, unknown>> = { ...peopleCalls, ...figureCalls };
  return {
    handlers,
    calls: Object.entries(handlers).map(([name, handler]) => ({
      call: modules[name] as HandledCall['call'],
      handle: handler as HandledCall['handle'],
    })),
    files: [exported, createProof(), createReportFile(gather)],
    warmUp: async () => {
      await figuresOf(service, countEach);
      await findSample();
    },
  };
}
