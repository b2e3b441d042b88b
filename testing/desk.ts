import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { openDeskService, type Desk } from '#desk/commands/command.ts';
import { runDesk } from '#desk/commands/all-commands.ts';
import { createLogger } from '#server/log/logger.ts';
import { readTimeZone } from '#server/settings/env-file.ts';
import type { Service } from '#server/startup/service.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { environment } from '#testing/environment.ts';
import { inFolder } from '#testing/folder.ts';

export type CommandResult = {
  readonly exitCode: number;
  readonly out: string;
  /** Text on standard error. */
  readonly notes: string;
};

export const desk = (
  service: Service,
  args: readonly string[],
  replacements: Partial<Desk> = {},
): Promise<CommandResult> =>
  runDeskWith(
    () => ({
      service: async () => service,
      clock: service.clock,
      timeZone: () => service.config.timeZone,
      ...replacements,
    }),
    args,
  );

export async function succeeded(command: Promise<CommandResult>, title = ''): Promise<CommandResult> {
  const result = await command;
  assert.equal(result.exitCode, 0, `${title}: ${result.notes}`);
  return result;
}

export const CONSENT_SOURCE = 'Mailchimp, double opt-in';

/** Imports people from a file with this name. */
export const importNamed = (
  { service }: { readonly service: Service },
  name: string,
  content: string | Buffer,
  ...args: readonly string[]
): Promise<CommandResult> =>
  inFolder((folder) => {
    const file = path.join(folder, name);
    writeFileSync(file, content);
    return desk(service, ['import', file, '--consent-source', CONSENT_SOURCE, ...args]);
  });

export const importFile = (
  server: { readonly service: Service },
  content: string | Buffer,
  ...args: readonly string[]
): Promise<CommandResult> => importNamed(server, 'list.csv', content, ...args);

/** Asserts that the command printed only this explanation, and returns it. */
export async function refused(
  command: Promise<CommandResult>,
  sentence: string | RegExp,
  exitCode = 1,
): Promise<string> {
  const result = await command;
  assert.deepEqual([result.exitCode, result.out], [exitCode, ''], result.notes);
  if (typeof sentence === 'string') assert.equal(result.notes, sentence);
  else assert.match(result.notes, sentence);
  return result.notes;
}

/** Allows only one call at a time, because it changes this process's environment and folder. */
export async function deskIn(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
  args: readonly string[],
  replacements: Partial<Desk> = {},
): Promise<CommandResult> {
  using _environment = environment({ INSTANCE_FOLDER: folder, CAMPAIGN_FOLDER: TEST_CAMPAIGN, ...env });
  const before = process.cwd();
  process.chdir(folder);
  let service: Promise<Service> | undefined;
  try {
    return await runDeskWith((note) => {
      const logger = createLogger('warn', { write: note });
      return {
        service: (database, instance) =>
          (service ??= openDeskService({ logger, announce: note, database }, instance)),
        ...replacements,
      };
    }, args);
  } finally {
    process.chdir(before);
    await service?.then(
      ({ close }) => close(),
      () => {},
    );
  }
}

export async function runDeskWith(
  partsOf: (note: (line: string) => void) => Pick<Desk, 'service'> & Partial<Desk>,
  args: readonly string[],
): Promise<CommandResult> {
  const out: string[] = [];
  const notes: string[] = [];
  const note = (line: string) => void notes.push(line);
  const exitCode = await runDesk(
    {
      print: async (text) => void out.push(text),
      note,
      confirm: async () => false,
      progress: () => {},
      paint: (_, text) => text,
      signal: new AbortController().signal,
      clock: () => Date.now(),
      timeZone: readTimeZone,
      // Nothing listens here, because no test looks up real domains.
      dnsServers: ['127.0.0.1:9'],
      ...partsOf(note),
    },
    args,
  );
  return { exitCode, out: out.join(''), notes: notes.join('\n') };
}
