// The slips people make when they write settings: a name that is nearly right, a value that a comment sign cuts off. A
// server that starts all the same runs with a default that nobody chose.
import { parseEnv } from 'node:util';

import { SETTING_NAMES } from '#server/config.ts';
import { nearestName } from '#server/nearest-name.ts';

/** Names of other programs that are one slip away from one of ours. */
const NOT_OURS = new Set(['API_SECRET', 'LOGLEVEL']);
/** Names shorter than this resemble too many others (PORT, HOST) to be judged outside .env. */
const SHORTEST_JUDGED = 6;

/** The setting whose name is nearest to another one, and by how many slips. */
const nearestSetting = (name: string): { name: string; slips: number } =>
  nearestName(name.toUpperCase(), SETTING_NAMES);

/**
 * Looks for names in the environment that were meant for us.
 * @param env the environment; a name counts only while the one it resembles is not set
 * @returns one sentence for each
 */
export function slipsInEnvironment(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env).flatMap((name) => {
    if (SETTING_NAMES.includes(name) || NOT_OURS.has(name)) return [];
    const { name: setting, slips } = nearestSetting(name);
    if (slips > 1 || setting.length < SHORTEST_JUDGED || env[setting]) return [];
    return [`${name} is no setting. Did you mean ${setting}?`];
  });
}

/**
 * Looks through the text of a .env file.
 * @returns what must be mended, and what is only worth knowing, one sentence each
 */
export function slipsInEnvFile(text: string): { complaints: string[]; warnings: string[] } {
  const complaints: string[] = [];
  const warnings: string[] = [];
  for (const name of Object.keys(parseEnv(text))) {
    if (SETTING_NAMES.includes(name)) continue;
    const { name: setting, slips } = nearestSetting(name);
    if (slips <= 2 && slips < name.length / 2)
      complaints.push(`${name} in .env is no setting. Did you mean ${setting}?`);
    else warnings.push(`${name} in .env is no setting of this page; it is ignored.`);
  }
  // Quoted values may hold anything, line breaks included.
  const unquoted = text.replace(/=[ \t]*(["'`])[^]*?\1/g, '=');
  for (const line of unquoted.split(/\r?\n/)) {
    const [, name = '', value = ''] = /^\s*(?:export\s+)?([\w.-]+)\s*=(.*)$/.exec(line) ?? [];
    // A comment begins after a space. Without one, it is part of the value as people mean it.
    if (SETTING_NAMES.includes(name) && /^[^\s#]*#/.test(value.trimStart()) && !/^\s+#/.test(value)) {
      complaints.push(
        `${name} in .env is cut off at its "#", where a comment begins. Put the value in quotes; in an address, write %23.`,
      );
    }
    if (name === '' && /^\s*[^\s#]/.test(line)) {
      complaints.push('A line in .env is not understood. Write each setting as NAME=value.');
    }
  }
  if ('INSTANCE_FOLDER' in parseEnv(text)) {
    complaints.push(
      'INSTANCE_FOLDER cannot stand in .env, because it says where .env lies. Set it in the environment.',
    );
  }
  return { complaints: [...new Set(complaints)], warnings };
}
