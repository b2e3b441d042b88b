import { createLogger } from '#server/log/logger.ts';
import { openService, readInstance } from '#server/startup/service.ts';
import { portMistakes } from '#server/startup/why-the-start-failed.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { environment } from '#testing/environment.ts';

function instanceOf(folder: string, env: Readonly<Record<string, string>>): ReturnType<typeof readInstance> {
  using _environment = environment({
    PORT: '0',
    INSTANCE_FOLDER: folder,
    CAMPAIGN_FOLDER: TEST_CAMPAIGN,
    ...env,
  });
  return readInstance();
}

export async function tryStart(
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ mistakes: readonly string[]; warnings: readonly string[] }> {
  const instance = instanceOf(folder, env);
  if (instance.type === 'mistakes') return { mistakes: instance.mistakes, warnings: [] };
  const ports = await portMistakes(instance.config);
  if (ports.length > 0) return { mistakes: ports, warnings: [] };
  const opening = await openService(instance, {
    logger: createLogger('silent', { write: () => {} }),
    announce: () => {},
    mayBeNewer: true,
  });
  if (opening.type === 'mistakes') return { mistakes: opening.mistakes, warnings: [] };
  const { warnings, close } = opening.service;
  await close();
  return { mistakes: [], warnings };
}
