import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { KEPT_COMPILED } from '#testing/environment.ts';
import { freePort } from '#testing/free-port.ts';
import { startProgram, type Program } from '#testing/start-program.ts';

export const DEV = path.resolve(import.meta.dirname, '..', 'build', 'dev.ts');

export type Dev = Program & {
  readonly url: string;
  /** A copy. */
  readonly campaign: string;
};

/** @param command build/dev.ts by default */
export async function startDev(
  source: string,
  {
    command = [DEV],
    env = {},
  }: { readonly command?: readonly string[]; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Dev> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lead-page-dev-'));
  const campaign = path.join(folder, 'words');
  cpSync(source, campaign, { recursive: true });
  const port = String(await freePort());
  const own = { INSTANCE_FOLDER: folder, CAMPAIGN_FOLDER: campaign, ...KEPT_COMPILED, PORT: port };
  const program = await startProgram(command, /^Ready on/m, { env: { ...own, ...env } });
  return {
    ...program,
    url: `http://127.0.0.1:${port}`,
    campaign,
    [Symbol.asyncDispose]: async () => {
      await program.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
