import { describe, it } from 'node:test';

import { ENGINES, type Engine } from '#testing/databases.ts';
import { withServer, type ServerOptions, type ServerUnderTest } from '#testing/server-under-test.ts';

type Work = (server: ServerUnderTest) => Promise<void>;
type Options = Omit<ServerOptions, 'engine'>;

/** Adds a test that gets a server of its own. */
type ServerTest = {
  (title: string, work: Work): void;
  (title: string, options: Options, work: Work): void;
};

/** Describes the subject once per engine. */
export function onEachEngine(
  subject: string,
  addTests: (on: { readonly engine: Engine; readonly test: ServerTest }) => void,
): void {
  for (const engine of ENGINES)
    describe(`${subject} on ${engine}`, () => {
      const test = (title: string, ...[options, work]: [Work] | [Options, Work]) =>
        void it(title, () =>
          typeof options === 'function'
            ? withServer({ engine }, options)
            : withServer({ engine, ...options }, work!),
        );
      addTests({ engine, test });
    });
}
