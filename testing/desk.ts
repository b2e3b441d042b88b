// A command of the desk, run in this process: on the service of a server under test, or on one of its own.
import { existsSync } from 'node:fs';

import { openDeskService, type Desk } from '#server/commands/desk.ts';
import { runDesk } from '#server/commands/program.ts';
import { createLogger } from '#server/observability/logger.ts';
import type { Service } from '#server/service.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { inEnvironment } from '#testing/environment.ts';

export type DeskAnswer = {
  readonly exitCode: number;
  /** Standard output. */
  readonly out: string;
  /** What was said to whoever sits at the terminal. */
  readonly notes: string;
};

/** @param replacements confirm: nobody is there to answer if not given */
export const desk = (
  service: Service,
  args: readonly string[],
  replacements: Partial<Desk> = {},
): Promise<DeskAnswer> => run({ service: async () => service, clock: service.clock, ...replacements }, args);

/**
 * As `npm run desk` runs it: the settings are read, and a service is opened where the command needs one.
 * @param folder that of the instance
 * @param env its settings, for as long as the command runs
 */
export async function deskAt(
  folder: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  replacements: Partial<Desk> = {},
): Promise<DeskAnswer> {
  let service: Promise<Service> | undefined;
  const parts: Pick<Desk, 'service' | 'clock'> = {
    service: (database) =>
      (service ??= openDeskService({ logger: createLogger('silent'), say: () => {}, database }, existsSync)),
    clock: () => Date.now(),
  };
  return inEnvironment({ INSTANCE_FOLDER: folder, CAMPAIGN_FOLDER: TEST_CAMPAIGN, ...env }, async () => {
    try {
      return await run({ ...parts, ...replacements }, args);
    } finally {
      await service?.then(
        ({ close }) => close(),
        () => {},
      );
    }
  });
}

async function run(
  parts: Pick<Desk, 'service' | 'clock'> & Partial<Desk>,
  args: readonly string[],
): Promise<DeskAnswer> {
  const out: string[] = [];
  const notes: string[] = [];
  const exitCode = await runDesk(
    {
      print: async (text) => void out.push(text),
      note: (line) => void notes.push(line),
      confirm: async () => false,
      progress: () => {},
      paint: (_, text) => text,
      signal: new AbortController().signal,
      // Nobody is there: no test asks about domains of the world.
      dnsServers: ['127.0.0.1:9'],
      ...parts,
    },
    args,
  );
  return { exitCode, out: out.join(''), notes: notes.join('\n') };
}
