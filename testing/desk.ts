// A command of the desk, run in this process on the service of a server under test, or of its own.
import type { Desk } from '#server/commands/desk.ts';
import { runDesk } from '#server/commands/program.ts';
import type { Service } from '#server/service.ts';

export type DeskAnswer = {
  readonly exitCode: number;
  /** Standard output. */
  readonly out: string;
  /** What was said to whoever sits at the terminal. */
  readonly notes: string;
};

/** @param replacements confirm: nobody is there to answer if not given */
export async function desk(
  service: Service,
  args: readonly string[],
  replacements: Partial<Desk> = {},
): Promise<DeskAnswer> {
  const out: string[] = [];
  const notes: string[] = [];
  const exitCode = await runDesk(
    {
      service: async () => service,
      print: async (text) => void out.push(text),
      note: (line) => void notes.push(line),
      confirm: async () => false,
      progress: () => {},
      paint: (_, text) => text,
      signal: new AbortController().signal,
      clock: service.clock,
      // Nobody is there: no test asks about domains of the world.
      dnsServers: ['127.0.0.1:9'],
      ...replacements,
    },
    args,
  );
  return { exitCode, out: out.join(''), notes: notes.join('\n') };
}
