// Reads what the operator wrote in campaign/. Checked at start, all complaints at once, like the settings.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

import * as z from 'zod/mini';

import { renderArticle } from '#server/article/render-article.ts';
import { PROJECT_FOLDER } from '#server/settings.ts';
import { parseWords, type ParsedWords } from '#server/words-file.ts';
import type { Article } from '#shared/api.ts';
import {
  BreakerEmail,
  CodeEmail,
  Consent,
  Errors,
  GuideEmail,
  Interface,
  Landing,
  NewLeadEmail,
  Site,
} from '#shared/campaign-schema.ts';

/** The sentence beside the checkbox, and the version made from it. */
export type ConsentWording = { readonly text: string; readonly version: string };

export type Campaign = {
  readonly site: Site;
  readonly interface: Interface;
  readonly codeEmail: CodeEmail;
  readonly guideEmail: GuideEmail;
  /** The guide as a file, in full; null when there is none. */
  readonly guideFile: string | null;
  readonly breakerEmail: BreakerEmail;
  readonly newLeadEmail: NewLeadEmail;
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

  const site = read('site.yaml', siteOf(folder));
  const interfaceWords = read('interface.yaml', Interface);
  const codeEmail = read('emails/code.yaml', CodeEmail);
  const guideEmail = read('emails/guide.yaml', guideEmailOf(folder));
  const breakerEmail = read('emails/breaker.yaml', BreakerEmail);
  const newLeadEmail = read('emails/new-lead.yaml', NewLeadEmail);
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
        `${nameOf(folder, 'article/article.md')}:${line}: must begin with a title: a line such as "# Title".`,
      );
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
    complaints.push(`${nameOf(folder, 'article/article.md')} cannot be read: ${error.message}`);
  }

  const freeMailDomains = new Set(
    (readTextIfThere(path.join(folder, 'free-mail-domains.txt')) ?? '')
      .split('\n')
      .map((line) => line.trim().toLowerCase())
      .filter((line) => line !== '' && !line.startsWith('#'))
      // As addresses have them when they are compared.
      .map((domain) => URL.parse(`http://${domain}`)?.hostname ?? domain),
  );

  if (
    !site ||
    !interfaceWords ||
    !codeEmail ||
    !guideEmail ||
    !breakerEmail ||
    !newLeadEmail ||
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
      guideEmail,
      guideFile: guideEmail.attachment === undefined ? null : guideFileIn(folder, guideEmail.attachment),
      breakerEmail,
      newLeadEmail,
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
  const landing = readWords(folder, 'landing.yaml', landingOf(folder));
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

/** How the operator calls a file: from the project's folder, or in full when the campaign lies elsewhere. */
function nameOf(folder: string, file: string): string {
  const fromProject = path.relative(PROJECT_FOLDER, folder);
  return path.join(fromProject.startsWith('..') ? folder : fromProject, file);
}

/** A picture comes in two formats, of which each browser takes one. */
const both = (names: readonly string[]) => names.flatMap((name) => [`${name}.avif`, `${name}.webp`]);

/** The words of site.yaml, and the logo they speak of. */
export const siteOf = (folder: string) =>
  Site.check(
    z.superRefine(({ logo }, context) => {
      if (logo === undefined) return;
      const complain = (message: string) => context.addIssue({ code: 'custom', path: ['logo'], message });
      if (!isMedia(folder, logo)) complain(needs([logo]));
      else if (svgSize(folder, logo) === null) complain(`media/${logo} must have a viewBox`);
    }),
  );

/** Where the guide lies as a file: beside its text, which no address of the page leads to. */
const guideFileIn = (folder: string, name: string): string => path.join(folder, 'article', name);

/** The words of emails/guide.yaml, and the file they speak of. */
const guideEmailOf = (folder: string) =>
  GuideEmail.check(
    z.superRefine(({ attachment }, context) => {
      if (attachment === undefined) return;
      const size = statSync(guideFileIn(folder, attachment), { throwIfNoEntry: false })?.size;
      const complain = (message: string) =>
        context.addIssue({ code: 'custom', path: ['attachment'], message });
      if (size === undefined) complain(`needs article/${attachment}; put it there, or take the entry out`);
      else if (size > ATTACHMENT_MAX_BYTES)
        complain(`is a file of ${Math.ceil(size / 1e6)} MB; mail servers take 7 at most`);
    }),
  );

/** Base64 makes it a third larger, and many mail servers take 10 MB. */
const ATTACHMENT_MAX_BYTES = 7e6;

/** The words of landing.yaml, and the pictures they speak of. */
export const landingOf = (folder: string) =>
  Landing.check(
    z.superRefine(({ hero, video, testimonials, promise }, context) => {
      const need = (entry: PropertyKey[], files: readonly string[]) => {
        const missing = files.filter((file) => !isMedia(folder, file));
        if (missing.length > 0) context.addIssue({ code: 'custom', path: entry, message: needs(missing) });
      };
      if (hero.imageAlt !== undefined)
        need(['hero', 'imageAlt'], both(['hero-640', 'hero-960', 'hero-1280']));
      if (video !== undefined)
        need(['video'], ['film.mp4', 'film.webm', 'film.vtt', ...both(['poster-640', 'poster-960'])]);
      if (promise?.imageAlt !== undefined) need(['promise', 'imageAlt'], both(['guide-400', 'guide-800']));
      for (const [at, { image }] of testimonials.cards.entries())
        if (image !== undefined) need(['testimonials', 'cards', at, 'image'], both([image]));
    }),
  );

const isMedia = (folder: string, file: string): boolean => existsSync(path.join(folder, 'media', file));

const needs = (files: readonly string[]): string =>
  `needs ${files.map((file) => `media/${file}`).join(', ')}; put it there, or take the entry out`;

/**
 * The size of a drawing, from its viewBox.
 * @param file its name in media/ of the campaign folder
 * @returns in its own units; null when it does not say
 */
export function svgSize(folder: string, file: string): { width: number; height: number } | null {
  const [, width, height] =
    /<svg[^>]*\sviewBox=["'][-\d.]+[\s,]+[-\d.]+[\s,]+([\d.]+)[\s,]+([\d.]+)["']/.exec(
      readFileSync(path.join(folder, 'media', file), 'utf8'),
    ) ?? [];
  return width === undefined || height === undefined
    ? null
    : { width: Number(width), height: Number(height) };
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
    return parseWords(nameOf(folder, file), readFileSync(path.join(folder, file), 'utf8'), schema);
  } catch (error) {
    if (!isMissing(error)) throw error;
    return { type: 'complaints', complaints: [`${nameOf(folder, file)} cannot be read: ${error.message}`] };
  }
}

const isMissing = (error: unknown): error is Error & { code: 'ENOENT' } =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** The version of a consent wording: made from the words themselves, so it cannot be forgotten. */
export const consentVersion = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 12);
