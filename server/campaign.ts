// Reads what the operator wrote in campaign/. Checked at start, all complaints at once, like the settings.
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

import type * as z from 'zod/mini';

import { renderArticle } from '#server/article/render-article.ts';
import { parseWords, type ParsedWords } from '#server/words-file.ts';
import type { Article } from '#shared/api.ts';
import {
  BreakerEmail,
  CodeEmail,
  Consent,
  Errors,
  Interface,
  Landing,
  Site,
} from '#shared/campaign-schema.ts';

/** The sentence beside the checkbox, and the version made from it. */
export type ConsentWording = { readonly text: string; readonly version: string };

export type Campaign = {
  readonly site: Site;
  readonly interface: Interface;
  readonly codeEmail: CodeEmail;
  readonly breakerEmail: BreakerEmail;
  readonly errors: Errors;
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
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return {
      type: 'complaints',
      complaints: [`CAMPAIGN_FOLDER names ${folder}, and there is no such folder.`],
    };
  }
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
  const breakerEmail = read('emails/breaker.yaml', BreakerEmail);
  const errors = read('errors.yaml', Errors);
  const consent = readConsent(folder);
  if (consent.type === 'complaints') complaints.push(...consent.complaints);

  let article: Article | null = null;
  try {
    const markdown = readFileSync(path.join(folder, 'article/article.md'), 'utf8');
    article = renderArticle(markdown);
    if (article === null) {
      const line = markdown.slice(0, markdown.search(/\S|$/)).split('\n').length;
      complaints.push(
        `campaign/article/article.md:${line}: must begin with a title: a line such as "# Title".`,
      );
    }
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
    !breakerEmail ||
    !errors ||
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
      breakerEmail,
      errors,
      article,
      freeMailDomains,
      consent: consent.words,
    },
  };
}

/**
 * Looks at the words that only the page shows, which the build reads.
 * @param folder the campaign folder
 * @returns one sentence for each complaint
 */
export function pageComplaints(folder: string): string[] {
  const landing = readWords(folder, 'landing.yaml', Landing);
  return landing.type === 'complaints' ? landing.complaints : [];
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
): ParsedWords<Words> {
  try {
    return parseWords(`campaign/${file}`, readFileSync(path.join(folder, file), 'utf8'), schema);
  } catch (error) {
    if (!isMissing(error)) throw error;
    return { type: 'complaints', complaints: [`campaign/${file} cannot be read: ${error.message}`] };
  }
}

const isMissing = (error: unknown): error is Error & { code: 'ENOENT' } =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** The version of a consent wording: made from the words themselves, so it cannot be forgotten. */
export const consentVersion = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 12);
