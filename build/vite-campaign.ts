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

/** A file of so many entries that each section of it is a module: an entry that the page does not use is then left out. */
const SECTIONED = 'interface.yaml';

const declare = (entries: object): string =>
  Object.entries(entries)
    .map(([name, value]) => `export const ${name} = ${withYear(value)};`)
    .join('\n');

/** A Vite plugin for `import * as words from '#campaign/….yaml'`: one export for each entry. */
export function campaignPlugin(folder: string): Plugin {
  return {
    name: 'campaign',
    enforce: 'pre',
    load(id) {
      const [place = '', section] = id.split('?');
      const file = path.basename(place);
      if (path.dirname(place) !== folder || !(file === 'consent.yaml' || isWordFile(file))) return null;
      this.addWatchFile(place);
      const words =
        file === 'consent.yaml'
          ? wordsOrThrow(readConsent(folder))
          : readWordsOrThrow<Record<string, unknown>>(folder, file, SCHEMAS[file]);
      if (file !== SECTIONED) return { code: declare(words), moduleType: 'js' };
      const sections = Object.entries(words).filter(([name]) => section === undefined || name === section);
      const code = sections.map(([name, entries]) =>
        section === undefined ? `export * as ${name} from './${file}?${name}';` : declare(Object(entries)),
      );
      return { code: code.join('\n'), moduleType: 'js' };
    },
  };
}
