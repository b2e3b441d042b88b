import type { readSettings } from '#server/settings/env-file.ts';

const HELP = new Set(['help', '-h', '--help']);
const asksForData = (args: readonly string[]): boolean =>
  args.some(
    (arg, at) =>
      arg === '--json' || arg === '--format=jsonl' || (arg === 'jsonl' && args[at - 1] === '--format'),
  );

export function instanceLine(
  settings: ReturnType<typeof readSettings>,
  args: readonly string[],
): string | null {
  if (args.length === 0 || args.some((arg) => HELP.has(arg)) || asksForData(args)) return null;
  if (settings.type === 'mistakes') return null;
  return `${settings.config.publicUrl}, with settings and data in ${settings.folder}`;
}
