import { describe, it } from 'node:test';

import { ENGINES, type Engine } from '#testing/databases.ts';
import { withServer, type ServerOptions, type ServerUnderTest } from '#testing/server-under-test.ts';

type Options = Omit<ServerOptions, 'engine'>;
type WithOptions<Work> = [work: Work] | [options: Options, work: Work];

/** Adds a test with its own server. */
type ServerTest = (title: string, ...test: WithOptions<(server: ServerUnderTest) => Promise<void>>) => void;
type AddTests = (on: { readonly engine: Engine; readonly test: ServerTest }) => void;

/** Describes the subject once per engine. The options are those of all its servers. */
export const onEachEngine = (subject: string, ...tests: WithOptions<AddTests>): void =>
  describeOn(ENGINES, subject, tests);

/** For a subject that does not depend on the engine. */
export const onSqlite = (subject: string, ...tests: WithOptions<AddTests>): void =>
  describeOn(['sqlite'], subject, tests);

function describeOn(engines: readonly Engine[], subject: string, tests: WithOptions<AddTests>): void {
  const [shared, addTests] = optionsFirst(tests);
  for (const engine of engines)
    describe(`${subject} on ${engine}`, () =>
      addTests({
        engine,
        test: (title, ...test) => {
          const [own, work] = optionsFirst(test);
          const env = { ...shared.env, ...own.env };
          void it(title, () => withServer({ engine, ...shared, ...own, env }, work));
        },
      }));
}

const optionsFirst = <Work>(given: WithOptions<Work>): [Options, Work] =>
  given.length === 1 ? [{}, given[0]] : given;
