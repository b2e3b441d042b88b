// The first line on a terminal: which instance the desk speaks of. An operator with several guides has one window for all of them.
import type { readSettings } from '#server/settings/env-file.ts';

const HELP = new Set(['help', '-h', '--help']);
const asksForData = (args: readonly string[]): boolean =>
  args.some(
    (arg, at) =>
      arg === '--json' || arg === '--format=jsonl' || (arg === 'jsonl' && args[at - 1] === '--format'),
  );

/**
 * @param settings of the instance
 * @param args as typed, without the name of the program
 * @returns the line; null where it would be in the way: before help, before JSON, and before mistakes about the settings
 */
export function instanceLine(
  settings: ReturnType<typeof readSettings>,
  args: readonly string[],
): string | null {
  if (args.length === 0 || args.some((arg) => HELP.has(arg)) || asksForData(args)) return null;
  if (settings.type === 'mistakes') return null;
  return `${settings.config.publicUrl}, with settings and data in ${settings.folder}`;
}
