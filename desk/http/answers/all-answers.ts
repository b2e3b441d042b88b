// Each call about people and figures, with what answers it. The calls of the door are desk/http/door's.
import type { Call } from '#desk/calls/call.ts';
import * as figureCalls from '#desk/calls/figures.ts';
import * as peopleCalls from '#desk/calls/people.ts';
import { correct, erase, sendGuide, suppress, unsuppress } from '#desk/http/answers/changes.ts';
import { createChoices, createFindOrigins } from '#desk/http/answers/choices.ts';
import { domains } from '#desk/http/answers/companies.ts';
import { createDayCounts } from '#desk/http/answers/day-counts.ts';
import { createDoctor } from '#desk/http/answers/doctor.ts';
import { exported } from '#desk/http/answers/export.ts';
import { lost } from '#desk/http/answers/lost.ts';
import { createMail } from '#desk/http/answers/mail.ts';
import { people } from '#desk/http/answers/people.ts';
import { createProof } from '#desk/http/answers/proof.ts';
import { createGather, createReport, createReportFile } from '#desk/http/answers/report.ts';
import { story } from '#desk/http/answers/story.ts';
import type { FileCall } from '#desk/http/answers/files.ts';
import { suppressions } from '#desk/http/answers/suppressions.ts';
import { createFindSample } from '#desk/http/answers/to-do.ts';
import { createToday, figuresOf } from '#desk/http/answers/today.ts';
import { retryWebhooks, webhooks } from '#desk/http/answers/webhooks.ts';
import type { Handler } from '#desk/http/handler.ts';
import { createWriteCheck } from '#server/db/whole/database-health.ts';
import type { Service } from '#server/run/service.ts';

/** A handler for each call that a module exports: one that is missing does not compile. */
type HandlersOf<Module> = {
  readonly [Name in keyof Module as Module[Name] extends Call<infer _, unknown> ? Name : never]: Handler<
    Module[Name]
  >;
};
export type Handlers = HandlersOf<typeof peopleCalls> & HandlersOf<typeof figureCalls>;

/** A call, and what answers it, as routes are made of it. */
export type AnsweredCall = {
  readonly call: Call<unknown, unknown>;
  readonly handle: Handler<Call<unknown, unknown>>;
};

/**
 * Makes what answers, for one service: it remembers reports, the doctor's findings and choices for a while.
 * @returns handlers by the names of their calls; all of them with their calls; and calls that are answered with files and pages
 */
export function createAnswers(service: Service): {
  readonly handlers: Handlers;
  readonly calls: readonly AnsweredCall[];
  readonly files: readonly FileCall[];
  /** Does beforehand what takes long for the first screen, such as counting past days in a long table. */
  readonly warmUp: () => Promise<void>;
} {
  const findWriteFault = createWriteCheck(service.database, service.clock);
  const dayCounts = createDayCounts(service);
  const findSample = createFindSample(service);
  const findOrigins = createFindOrigins(service);
  const gather = createGather(service);
  const { doctor, last } = createDoctor(service);
  const handlers: Handlers = {
    people,
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
      dayCounts,
      findSample,
      findWriteFault,
      findings: () => last()?.findings,
    }),
    report: createReport(gather, findOrigins),
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
      call: modules[name] as AnsweredCall['call'],
      handle: handler as AnsweredCall['handle'],
    })),
    files: [exported, createProof(), createReportFile(gather)],
    warmUp: async () => {
      await figuresOf(service, dayCounts);
      await findSample();
    },
  };
}
