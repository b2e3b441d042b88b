// Lets the page import the operator's words: checked at build time, so that the page carries data and no schema.
import path from 'node:path';

import type { Plugin } from 'vite';
import type * as z from 'zod/mini';

import { readConsent, readWords } from '#server/campaign.ts';
import { Interface, Landing, Site } from '#shared/campaign-schema.ts';

const SCHEMAS = { 'site.yaml': Site, 'landing.yaml': Landing, 'interface.yaml': Interface } as const;

const isWordFile = (name: string): name is keyof typeof SCHEMAS => name in SCHEMAS;

/** Reads a content file. Throws all complaints about it. */
export function readWordsOrThrow<Words>(folder: string, file: string, schema: z.ZodMiniType<Words>): Words {
  return wordsOrThrow(readWords(folder, file, schema));
}

function wordsOrThrow<Words>(
  result: { type: 'words'; words: Words } | { type: 'complaints'; complaints: readonly string[] },
): Words {
  if (result.type === 'complaints')
    throw new Error(`The words cannot be used:\n${result.complaints.join('\n')}`);
  return result.words;
}

/** Fills in what an operator should not have to change each January. */
const withYear = (words: unknown): string =>
  JSON.stringify(words).replaceAll('{year}', String(new Date().getFullYear()));

/** A Vite plugin for `import * as words from '#campaign/….yaml'`: one export for each entry. */
export function campaignPlugin(folder: string): Plugin {
  return {
    name: 'campaign',
    enforce: 'pre',
    load(id) {
      const file = path.basename(id);
      if (path.dirname(id) !== folder || !(file === 'consent.yaml' || isWordFile(file))) return null;
      this.addWatchFile(id);
      const words =
        file === 'consent.yaml'
          ? wordsOrThrow(readConsent(folder))
          : readWordsOrThrow<Record<string, unknown>>(folder, file, SCHEMAS[file]);
      const code = Object.entries(words).map(([name, value]) => `export const ${name} = ${withYear(value)};`);
      return { code: code.join('\n'), moduleType: 'js' };
    },
  };
}
