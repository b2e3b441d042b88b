// The questions of a campaign's own (form.yaml), with the sentences about an answer in the language of the page. A campaign without
// such a file asks what every form asks.
import * as z from 'zod/mini';

import { ENGLISH, MESSAGES } from '#server/campaign/own-form-words.ts';
import type { ParsedWords } from '#server/campaign/missing-and-wrong-words.ts';
import { Form, type FormMessages, type OwnForm } from '#shared/campaign-schema.ts';

/** The first subtag of a language: `pt` of `pt-BR`. */
const mainLanguage = (tag: string): string => tag.split('-', 1)[0]?.toLowerCase() ?? '';

/**
 * The schema of form.yaml for a language: one that has no sentences of ours has to bring its own.
 * @param language of the page, such as `pt-BR`
 */
const formIn = (language: string) =>
  Form.check(
    z.superRefine(({ fields = [], messages = {} }, context) => {
      if (fields.length === 0 || mainLanguage(language) in MESSAGES) return;
      const missing = (Object.keys(ENGLISH) as (keyof FormMessages)[]).filter(
        (name) => messages[name] === undefined,
      );
      if (missing.length > 0)
        context.addIssue({
          code: 'custom',
          path: ['fields'],
          message: `need sentences in the language of the page (${language}): write a group "messages:" with ${missing.join(', ')}`,
        });
    }),
  );

const FILE = 'form.yaml';

/** Whether the file is as the one that comes with the project: nothing but comments. @param text of form.yaml */
export const saysNothing = (text: string): boolean =>
  text.split('\n').every((line) => /^\s*(?:#|$)/.test(line));

/**
 * Reads the questions.
 * @param options language: of the page; isThere: whether there is a form.yaml that says something; read: reads and checks it
 */
export function readOwnForm({
  language,
  isThere,
  read,
}: {
  language: string;
  isThere: boolean;
  read: <Words>(file: string, schema: z.ZodMiniType<Words>) => ParsedWords<Words>;
}): ParsedWords<OwnForm> {
  const defaults = MESSAGES[mainLanguage(language)] ?? ENGLISH;
  if (!isThere) return { type: 'words', words: { fields: [], messages: defaults } };
  const result = read(FILE, formIn(language));
  if (result.type === 'mistakes') return result;
  const { fields = [], messages = {} } = result.words;
  const said = Object.entries(messages).filter(([, sentence]) => sentence !== undefined);
  return { type: 'words', words: { fields, messages: { ...defaults, ...Object.fromEntries(said) } } };
}
