// Exit codes: 0 done, 1 failed, 2 called incorrectly.
import {
  Command,
  CommanderError,
  type CommandUnknownOpts,
  type OutputConfiguration,
} from '@commander-js/extra-typings';

import { addBackup } from '#desk/commands/backup.ts';
import { addBounce } from '#desk/commands/bounce.ts';
import { addCompact } from '#desk/commands/compact.ts';
import { addConsent } from '#desk/commands/consent.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import { COMMAND_PREFIX } from '#desk/commands/help.ts';
import type { Config } from '#server/settings/settings.ts';
import { describeBug } from '#server/platform/system-errors.ts';
import { describeError, type LoggedError } from '#server/log/logger.ts';
import { explainFailure } from '#server/startup/why-the-start-failed.ts';
import { addDoctor } from '#desk/commands/doctor.ts';
import { addExport } from '#desk/commands/export.ts';
import { addImport } from '#desk/commands/import.ts';
import { addLeads } from '#desk/commands/leads.ts';
import { addMove } from '#desk/commands/move.ts';
import { addOpen } from '#desk/commands/open.ts';
import { addCorrect, addErase, addPerson, addSendGuide, addShow } from '#desk/commands/person.ts';
import { printableLines, withoutC1 } from '#desk/printable.ts';
import { addRestore } from '#desk/commands/restore.ts';
import { addLog } from '#desk/commands/log.ts';
import { addLost } from '#desk/commands/lost.ts';
import { addReport } from '#desk/commands/report.ts';
import { addSignOut } from '#desk/commands/sign-out.ts';
import { addSuppress } from '#desk/commands/suppress.ts';
import { addWebhooks } from '#desk/commands/webhooks.ts';

/** Shells expect this exit code after Ctrl-C. */
export const INTERRUPTED = 130;

export async function runDesk(unfiltered: Desk, args: readonly string[]): Promise<number> {
  // Filters control characters that a command let through.
  const desk: Desk = {
    ...unfiltered,
    print: (text) => unfiltered.print(withoutC1(text)),
    note: (line) => unfiltered.note(printableLines(line)),
    confirm: (question) => unfiltered.confirm(printableLines(question)),
  };
  let database: Config['database'] | null = null;
  const service: Desk['service'] = async (...replacements) => {
    const opened = await desk.service(...replacements);
    database = opened.config.database;
    return opened;
  };
  try {
    await runCommand({ ...desk, service }, args);
    return 0;
  } catch (error) {
    if (desk.signal.aborted) return INTERRUPTED;
    if (error instanceof CommandFailure) {
      desk.note(error.message);
      return error.exitCode;
    }
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    desk.note(explainFailure(error, database) ?? describeBug(describeWithoutMessage(error)));
    return 1;
  }
}

/** Describes an error by type, codes and source positions, without its message, which can quote personal data. */
export const describeWithoutMessage = (error: unknown): string =>
  linesOfError(describeError(error)).join('\n');

function linesOfError({
  type,
  code,
  errcode,
  table,
  constraint,
  stack = [],
  cause,
  errors = [],
}: LoggedError): string[] {
  const summary = [type, code, errcode, table, constraint].filter((part) => part !== undefined).join(' ');
  const others = [...(cause === undefined ? [] : [cause]), ...errors];
  return [summary, ...stack.map((line) => `    ${line}`), ...others.flatMap((other) => linesOfError(other))];
}

async function runCommand(desk: Desk, args: readonly string[]): Promise<void> {
  const help: string[] = [];
  const program = createProgram(desk, {
    writeOut: (text) => help.push(text),
    writeErr: (text) => desk.note(text.trimEnd()),
  });
  try {
    if (args.length === 0) program.help();
    await program.parseAsync(args, { from: 'user' });
  } finally {
    for (const text of help) await desk.print(text);
  }
}

export function createProgram(desk: Desk, output: OutputConfiguration): Command {
  const program = new Command(COMMAND_PREFIX)
    .description('Manages the leads and the database of this site, even while the site is running.')
    .configureHelp({ sortSubcommands: true })
    .configureOutput(output)
    .showSuggestionAfterError()
    .exitOverride();
  for (const add of [
    addLeads,
    addExport,
    addImport,
    addShow,
    addPerson,
    addCorrect,
    addSendGuide,
    addErase,
    addCompact,
    addConsent,
    addBackup,
    addBounce,
    addRestore,
    addMove,
    addDoctor,
    addReport,
    addLost,
    addSuppress,
    addWebhooks,
    addOpen,
    addLog,
    addSignOut,
  ])
    add(program, desk);
  addUsageHint(program, program.name());
  return program;
}

function addUsageHint(command: CommandUnknownOpts, name: string): void {
  command.showHelpAfterError(`Run "${name} --help" for usage.`);
  for (const sub of command.commands) addUsageHint(sub, `${name} ${sub.name()}`);
}
