// Reads what the operator wrote in campaign/. Checked at start, all complaints at once, like the settings.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { parse, YAMLParseError } from 'yaml';
import * as z from 'zod/mini';

import { renderArticle } from '#server/article/render-article.ts';
import type { Article } from '#shared/api.ts';
import { CodeEmail, Consent, campaignComplaints, Interface, Site } from '#shared/campaign-schema.ts';

/** The sentence beside the checkbox, and the version made from it. */
export type ConsentWording = { readonly text: string; readonly version: string };

export type Campaign = {
  readonly site: Site;
  readonly interface: Interface;
  readonly codeEmail: CodeEmail;
  readonly consent: ConsentWording;
  readonly article: Article;
  readonly freeMailDomains: ReadonlySet<string>;
};

export type CampaignResult =
  | { readonly type: 'campaign'; readonly campaign: Campaign }
  | { readonly type: 'complaints'; readonly complaints: readonly string[] };

/**
 * Reads the words the server needs.
 * @param folder the campaign folder
 */
export function readCampaign(folder: string): CampaignResult {
  const complaints: string[] = [];
  const read = <Words>(file: string, schema: z.ZodMiniType<Words>): Words | null => {
    const result = readWords(folder, file, schema);
    if (result.type === 'words') return result.words;
    complaints.push(...result.complaints);
    return null;
  };

  const site = read('site.yaml', Site);
  const interfaceWords = read('interface.yaml', Interface);
  const codeEmail = read('emails/code.yaml', CodeEmail);
  const consent = readConsent(folder);
  if (consent.type === 'complaints') complaints.push(...consent.complaints);
  if (codeEmail) complaints.push(...codeEmailComplaints(codeEmail));

  let article: Article | null = null;
  try {
    article = renderArticle(readFileSync(path.join(folder, 'article/article.md'), 'utf8'));
    if (article === null)
      complaints.push('campaign/article/article.md: must begin with a title: a line such as "# Title".');
  } catch (error) {
    if (!isMissing(error)) throw error;
    complaints.push(`campaign/article/article.md cannot be read: ${error.message}`);
  }

  const freeMailDomains = new Set(
    (readTextIfThere(path.join(folder, 'free-mail-domains.txt')) ?? '')
      .split('\n')
      .map((line) => line.trim().toLowerCase())
      .filter((line) => line !== '' && !line.startsWith('#')),
  );

  if (
    !site ||
    !interfaceWords ||
    !codeEmail ||
    consent.type === 'complaints' ||
    !article ||
    complaints.length > 0
  )
    return { type: 'complaints', complaints };
  return {
    type: 'campaign',
    campaign: {
      site,
      interface: interfaceWords,
      codeEmail,
      article,
      freeMailDomains,
      consent: consent.words,
    },
  };
}

/**
 * Reads the words of the consent. The build and the server both ask here, so a page and its server cannot disagree about
 * the version of the same words.
 * @param folder the campaign folder
 */
export function readConsent(
  folder: string,
): { type: 'words'; words: ConsentWording } | { type: 'complaints'; complaints: string[] } {
  const result = readWords(folder, 'consent.yaml', Consent);
  if (result.type === 'complaints') return result;
  const { text } = result.words;
  return { type: 'words', words: { text, version: consentVersion(text) } };
}

function readTextIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/**
 * Reads one YAML file of words and checks it.
 * @param folder the campaign folder
 * @param file its path within that folder
 */
export function readWords<Words>(
  folder: string,
  file: string,
  schema: z.ZodMiniType<Words>,
): { type: 'words'; words: Words } | { type: 'complaints'; complaints: string[] } {
  try {
    const result = z.safeParse(schema, parse(readFileSync(path.join(folder, file), 'utf8')));
    return result.success
      ? { type: 'words', words: result.data }
      : { type: 'complaints', complaints: campaignComplaints(`campaign/${file}`, result.error.issues) };
  } catch (error) {
    if (!(error instanceof YAMLParseError) && !isMissing(error)) throw error;
    return { type: 'complaints', complaints: [`campaign/${file} cannot be read: ${error.message}`] };
  }
}

const isMissing = (error: unknown): error is Error & { code: 'ENOENT' } =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** The version of a consent wording: made from the words themselves, so it cannot be forgotten. */
export const consentVersion = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 12);

const PLACEHOLDERS = ['code', 'reference', 'minutes', 'title'];

function codeEmailComplaints(words: CodeEmail): string[] {
  const complaints = Object.entries(words).flatMap(([entry, text]) =>
    Array.from(text.matchAll(/\{(\w+)\}/g), ([, name = '']) => name)
      .filter((name) => !PLACEHOLDERS.includes(name))
      .map(
        (name) =>
          `campaign/emails/code.yaml: ${entry}: there is no {${name}}; use one of {${PLACEHOLDERS.join('}, {')}}.`,
      ),
  );
  if (!words.subject.includes('{code}')) {
    complaints.push(
      'campaign/emails/code.yaml: subject: must contain {code}, so that the code shows in the inbox.',
    );
  }
  for (const [entry, text] of Object.entries(words)) {
    if (entry !== 'subject' && text.includes('{code}')) {
      complaints.push(
        `campaign/emails/code.yaml: ${entry}: must not contain {code}; the body shows it once already.`,
      );
    }
  }
  return complaints;
}
