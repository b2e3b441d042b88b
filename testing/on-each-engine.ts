import { describe, it } from 'node:test';

import { ENGINES, MATRIX_ENGINES, type Engine } from '#testing/databases.ts';
import { withServer, type ServerOptions, type ServerUnderTest } from '#testing/server-under-test.ts';

/** Functions that add a test to the suite of one engine. */
export type OnEngine<Test> = {
  readonly engine: Engine;
  /** For one journey per route and command, races, transactions, and values or an order that may differ between engines. */
  readonly both: Test;
  /** For behaviour that does not depend on the engine. PostgreSQL runs it only in the matrix (`npm run test:matrix`). */
  readonly test: Test;
};

type Options = Omit<ServerOptions, 'engine'>;
type WithOptions<Work> = [work: Work] | [options: Options, work: Work];

/** Each test has its own server. */
type ServerTest = (title: string, ...test: WithOptions<(server: ServerUnderTest) => Promise<void>>) => void;

/** @param tests options of all servers, and a function that adds the tests */
export function onEachEngine(
  subject: string,
  ...tests: WithOptions<(on: OnEngine<ServerTest>) => void>
): void {
  const [shared, addTests] = optionsFirst(tests);
  describeOnEach<ServerTest>(subject, addTests, (engine, add) => (title, ...test) => {
    const [own, work] = optionsFirst(test);
    const env = { ...shared.env, ...own.env };
    add(title, () => withServer({ engine, ...shared, ...own, env }, work));
  });
}

const optionsFirst = <Work>(given: WithOptions<Work>): [Options, Work] =>
  given.length === 1 ? [{}, given[0]] : given;

type Add = (title: string, work: () => Promise<void>) => void;

/** For tests that start their server themselves. */
export const describeOnEachEngine = (subject: string, addTests: (on: OnEngine<Add>) => void): void =>
  describeOnEach(subject, addTests, (_, add) => add);

export function describeOnEach<Test>(
  subject: string,
  addTests: (on: OnEngine<Test>) => void,
  testWith: (engine: Engine, add: Add) => Test,
): void {
  const add: Add = (title, work) => void it(title, work);
  for (const engine of ENGINES)
    describe(`${subject} on ${engine}`, () => {
      const test = testWith(engine, MATRIX_ENGINES.includes(engine) ? add : () => {});
      addTests({ engine, both: testWith(engine, add), test });
    });
}
