// Reads what the operator wrote in campaign/. Checked at start, all mistakes at once, like the settings.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

import * as z from 'zod/mini';

import { articleSlips, type ArticleSlip } from '#server/campaign/article-mistakes.ts';
import { partsOfArticle, renderArticle } from '#server/campaign/render-article.ts';
import {
  mediaMistakes,
  missingMistake,
  nameOf,
  namesIn,
  readText,
} from '#server/campaign/pictures-and-films.ts';
import { iconMistake } from '#server/campaign/icon-set.ts';
import { parseWords, type ParsedWords, type WordsAbove } from '#server/campaign/missing-and-wrong-words.ts';
import { readOwnForm, saysNothing } from '#server/campaign/own-form.ts';
import { inVariant, variantMistakes, variantsIn, OWN_PAGE } from '#server/campaign/variants.ts';
import type { Article } from '#shared/api.ts';
import {
  BreakerEmail,
  CodeEmail,
  Consent,
  Errors,
  GuideEmail,
  Interface,
  filmHasPoints,
  Landing,
  NewLeadEmail,
  SECTIONS,
  sectionsOf,
  Site,
  type OwnForm,
  type SectionName,
} from '#shared/campaign-schema.ts';
import { linkMistake } from '#shared/links.ts';

/** The sentence beside the checkbox, and the version made from it. */
export type ConsentWording = { readonly text: string; readonly version: string };

export type Campaign = {
  /** Where its files are. */
  readonly folder: string;
  readonly site: Site;
  readonly interface: Interface;
  readonly codeEmail: CodeEmail;
  readonly guideEmail: GuideEmail;
  /** The guide as a file, in full; null when there is none. */
  readonly guideFile: string | null;
  /** The file behind the button under the article, in full; null when there is no such button. */
  readonly downloadFile: string | null;
  readonly breakerEmail: BreakerEmail;
  readonly newLeadEmail: NewLeadEmail;
  readonly errors: Errors;
  readonly consent: ConsentWording;
  /** What the form asks besides name, company and address. */
  readonly form: OwnForm;
  readonly article: Article;
  readonly freeMailDomains: ReadonlySet<string>;
  /** The variants of the page, the campaign's own first; empty where it has no others. */
  readonly variants: readonly Variant[];
};

/** One of the pages that are compared. Its consent wording is that of the campaign unless it has its own. */
export type Variant = { readonly name: string; readonly consent: ConsentWording };

export type CampaignResult =
  | { readonly type: 'campaign'; readonly campaign: Campaign }
  | { readonly type: 'mistakes'; readonly mistakes: readonly string[] };

/**
 * Reads the words the server needs.
 * @param folder the campaign folder
 */
export function readCampaign(folder: string): CampaignResult {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return {
      type: 'mistakes',
      mistakes: [`CAMPAIGN_FOLDER names ${folder}, and there is no such folder.`],
    };
  }
  const mistakes: string[] = [];
  const read = <Words>(file: string, schema: z.ZodMiniType<Words>): Words | null => {
    const result = readWords(folder, file, schema);
    if (result.type === 'words') return result.words;
    mistakes.push(...result.mistakes);
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
  if (consent.type === 'mistakes') mistakes.push(...consent.mistakes);
  const form = readForm(folder, site?.language ?? 'en');
  if (form.type === 'mistakes') mistakes.push(...form.mistakes);

  const { article, slips } = readArticle(folder);
  mistakes.push(...slips.filter(({ isMistake }) => isMistake).map(({ sentence }) => sentence));
  const freeMail = readFreeMailDomains(folder);
  mistakes.push(...freeMail.mistakes);
  const variants = readVariants(folder);
  if (variants.type === 'mistakes')
    mistakes.push(...variants.mistakes.filter((mistake) => !mistakes.includes(mistake)));

  if (
    !site ||
    !interfaceWords ||
    !codeEmail ||
    !guideEmail ||
    !breakerEmail ||
    !newLeadEmail ||
    !errors ||
    consent.type === 'mistakes' ||
    form.type === 'mistakes' ||
    !article ||
    variants.type === 'mistakes' ||
    mistakes.length > 0
  )
    return { type: 'mistakes', mistakes };
  return {
    type: 'campaign',
    campaign: {
      folder,
      site,
      interface: interfaceWords,
      codeEmail,
      guideEmail,
      guideFile: guideEmail.attachment === undefined ? null : guideFileIn(folder, guideEmail.attachment),
      downloadFile: site.download === undefined ? null : guideFileIn(folder, site.download.file),
      breakerEmail,
      newLeadEmail,
      errors,
      article,
      freeMailDomains: freeMail.domains,
      consent: consent.words,
      form: form.words,
      variants: variants.words,
    },
  };
}

/** Reads what the server needs of the variants: their names, and the words of their consents. The words of the server cannot differ. */
function readVariants(folder: string): ParsedWords<readonly Variant[]> {
  const names = variantsIn(folder);
  const mistakes = variantMistakes(folder);
  const variants: Variant[] = [];
  for (const name of names.length === 0 ? [] : [null, ...names]) {
    const consent = readConsent(folder, name);
    const words = readWords(folder, 'interface.yaml', Interface, name);
    for (const result of [consent, words]) if (result.type === 'mistakes') mistakes.push(...result.mistakes);
    if (consent.type === 'words') variants.push({ name: name ?? OWN_PAGE, consent: consent.words });
  }
  return mistakes.length > 0 ? { type: 'mistakes', mistakes } : { type: 'words', words: variants };
}

/**
 * Looks at the words that only the page shows, which the build reads.
 * @param folder the campaign folder
 * @returns one sentence for each mistake
 */
export function pageMistakes(folder: string): string[] {
  const isSiteRight = readWords(folder, 'site.yaml', siteOf(folder)).type === 'words';
  const mistakes = [null, ...variantsIn(folder)].flatMap((variant) => {
    const landing = readWords(folder, 'landing.yaml', landingOf(folder), variant);
    if (landing.type === 'mistakes') return landing.mistakes;
    if (variant === null || !isSiteRight) return [];
    // A link may lead to a section that this variant leaves out.
    const site = readWords(folder, 'site.yaml', siteOf(folder, variant));
    return site.type === 'words' ? [] : site.mistakes.map((mistake) => `${mistake} (Variant ${variant}.)`);
  });
  // A slip of the campaign's own words is on every page.
  return [...new Set(mistakes)];
}

/**
 * Looks at all words, those of the server and those of the page.
 * @param folder the campaign folder
 * @returns one sentence for each mistake
 */
export function campaignMistakes(folder: string): readonly string[] {
  const words = readCampaign(folder);
  if (words.type === 'campaign') return pageMistakes(folder);
  return existsSync(folder) ? [...words.mistakes, ...pageMistakes(folder)] : words.mistakes;
}

/**
 * Reads the words of the consent. The build and the server both ask here, so a page and its server cannot disagree about
 * the version of the same words.
 * @param folder the campaign folder
 * @param variant whose words; null: those of the campaign itself
 */
export function readConsent(
  folder: string,
  variant: string | null = null,
): { type: 'words'; words: ConsentWording } | { type: 'mistakes'; mistakes: string[] } {
  const result = readWords(folder, 'consent.yaml', Consent, variant);
  if (result.type === 'mistakes') return result;
  const { text } = result.words;
  return { type: 'words', words: { text, version: consentVersion(text) } };
}

/**
 * Reads the campaign's own questions; none where it has no form.yaml. The build and the server both ask here.
 * @param folder the campaign folder
 * @param language of the page
 */
export function readForm(folder: string, language: string): ParsedWords<OwnForm> {
  const text = readText(folder, 'form.yaml');
  return readOwnForm({
    language,
    isThere: text !== null && !(text.type === 'text' && saysNothing(text.text)),
    read: (file, schema) => readWords(folder, file, schema),
  });
}

/** A slip of a file without entries. */
export type TextSlip = { readonly sentence: string; readonly isMistake: boolean };

/**
 * Reads the article.
 * @param folder the campaign folder
 * @returns null in place of one that cannot be rendered; and what is wrong, a sentence each
 */
export function readArticle(folder: string): { article: Article | null; slips: TextSlip[] } {
  const file = 'article/article.md';
  const read = readText(folder, file);
  const none = (sentence: string) => ({ article: null, slips: [{ sentence, isMistake: true }] });
  if (read === null) return none(missingMistake(folder, file));
  if (read.type === 'mistake') return none(read.mistake);
  const parts = partsOfArticle(read.text);
  if (parts === null) {
    const line = read.text.slice(0, read.text.search(/\S|$/)).split('\n').length;
    return none(`${nameOf(folder, file)}:${line}: must begin with a title: a line such as "# Title".`);
  }
  const pictures = namesIn(path.join(folder, 'media'));
  const found = articleSlips(parts.body, (name) => pictures.includes(name));
  const slips: ArticleSlip[] = found.map((slip) => ({ ...slip, line: slip.line + parts.bodyLine - 1 }));
  if (/[*_`~<>[\]]/.test(parts.title))
    slips.unshift({
      line: parts.bodyLine - 1,
      sentence: 'the title is shown as it stands here; use plain words',
      isMistake: true,
    });
  return {
    article: renderArticle(read.text),
    slips: slips.map(({ line, sentence, isMistake }) => ({
      sentence: `${nameOf(folder, file)}:${line}: ${sentence}.`,
      isMistake,
    })),
  };
}

function readFreeMailDomains(folder: string): { domains: ReadonlySet<string>; mistakes: string[] } {
  const file = 'free-mail-domains.txt';
  const domains = new Set<string>();
  const read = readText(folder, file);
  if (read === null) return { domains, mistakes: [] };
  if (read.type === 'mistake') return { domains, mistakes: [read.mistake] };
  const mistakes: string[] = [];
  for (const [at, whole] of read.text.split('\n').entries()) {
    const line = whole.trim().toLowerCase();
    if (line === '' || line.startsWith('#')) continue;
    // As addresses have them when they are compared.
    const domain = /^[^\s@/:?#,;*]+$/.test(line) ? URL.parse(`http://${line}`)?.hostname : undefined;
    if (domain?.includes('.') === true) domains.add(domain);
    else
      mistakes.push(
        `${nameOf(folder, file)}:${at + 1}: ${whole.trim()} is no domain; write one a line, such as gmail.com, and remarks behind a # on lines of their own.`,
      );
  }
  return { domains, mistakes };
}

/** A picture comes in two formats, of which each browser takes one. */
export const both = (names: readonly string[]) => names.flatMap((name) => [`${name}.avif`, `${name}.webp`]);

/** The places of the landing page that a link may lead to. */
function placesOf(folder: string, variant: string | null): string[] {
  const landing = readWords(folder, 'landing.yaml', landingOf(folder), variant);
  // What is wrong there is reported there.
  const sections = landing.type === 'words' ? sectionsOf(landing.words) : [...SECTIONS];
  return [
    ...sections
      .filter((name) => name !== 'video' || !filmHasPoints(sections))
      .map((name) => name.replaceAll(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`)),
    'closing',
  ];
}

/** The words of site.yaml, and the places and the files they speak of. */
export const siteOf = (folder: string, variant: string | null = null) =>
  Site.check(
    z.superRefine(({ footerLinks, readOn, logo, download }, context) => {
      const links = [
        ...footerLinks.map(({ href }, at) => ({ path: ['footerLinks', at, 'href'], href })),
        ...(readOn === undefined ? [] : [{ path: ['readOn', 'href'], href: readOn.href }]),
      ].filter(({ href }) => /^#./.test(href));
      const places = links.length === 0 ? [] : placesOf(folder, variant);
      for (const { path: entry, href } of links) {
        const message = linkMistake(href, places);
        if (message !== null) context.addIssue({ code: 'custom', path: entry, message });
      }
      if (download !== undefined) {
        const file = statSync(guideFileIn(folder, download.file), { throwIfNoEntry: false });
        const complainOfFile = (message: string) =>
          context.addIssue({ code: 'custom', path: ['download', 'file'], message });
        if (!file?.isFile())
          complainOfFile(`needs article/${download.file}; put it there, or take the entry out`);
        else if (file.size > DOWNLOAD_MAX_BYTES)
          complainOfFile(
            `is a file of ${Math.ceil(file.size / 1e6)} MB; the server keeps it in memory, and takes 50 at most`,
          );
      }
      if (logo === undefined) return;
      const complain = (message: string) => context.addIssue({ code: 'custom', path: ['logo'], message });
      const slips = mediaMistakes(folder, [logo]);
      if (slips.length === 0 && svgSize(folder, logo) === null) complain(`media/${logo} must have a viewBox`);
      for (const slip of slips) complain(slip);
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

/** A restart in place holds it twice. */
const DOWNLOAD_MAX_BYTES = 50e6;

/** Base64 makes it a third larger, and many mail servers take 10 MB. */
const ATTACHMENT_MAX_BYTES = 7e6;

/** The files that an entry of landing.yaml needs in media/. */
export const MEDIA = {
  hero: both(['hero-640', 'hero-960', 'hero-1280']),
  video: ['film.mp4', 'film.webm', 'film.vtt', ...both(['poster-640', 'poster-960'])],
  promise: both(['guide-400', 'guide-800']),
} as const;

/** The files of one picture of open pages. @param index its place in the list, from 0 */
export const mediaOfPages = (index: number): string[] =>
  both([480, 960].map((width) => `inside-${index + 1}-${width}`));

/** What keeps the sections of a landing page from being shown in its order, each with the entry it is about. */
function orderMistakes(landing: Landing): { entry: PropertyKey[]; message: string }[] {
  const { sections } = landing;
  if (sections === undefined) return [];
  const isPresent = (name: SectionName) => landing[name] !== undefined;
  return [
    ...sections.flatMap((name, at) => {
      const entry = ['sections', at];
      if (sections.indexOf(name) < at)
        return { entry, message: `${name} stands in the list twice; keep one of them` };
      if (!isPresent(name))
        return { entry, message: `there is no section ${name}; write its words, or take the name out` };
      return [];
    }),
    ...SECTIONS.filter((name) => isPresent(name) && !sections.includes(name)).map((name) => ({
      entry: [name],
      message: `is not in the list of sections, so no visitor would see it; add ${name} there, or take these words out`,
    })),
  ];
}

/** The words of landing.yaml, the order of its sections, and the icons and pictures they speak of. */
export const landingOf = (folder: string) =>
  Landing.check(
    z.superRefine((landing, context) => {
      const { hero, video, inside, benefits, testimonials, logos, promise } = landing;
      const complain = (entry: PropertyKey[], message: string, isWord = false) =>
        context.addIssue({ code: 'custom', path: entry, message, params: { isWord } });
      const need = (entry: PropertyKey[], files: readonly string[]): boolean => {
        const messages = mediaMistakes(folder, files);
        for (const message of messages) complain(entry, message);
        return messages.length === 0;
      };
      const needSvg = (entry: PropertyKey[], file: string) => {
        if (need(entry, [file]) && svgSize(folder, file) === null)
          complain(entry, `media/${file} must have a viewBox`);
      };
      for (const { entry, message } of orderMistakes(landing)) complain(entry, message, true);
      if (hero.imageAlt !== undefined) need(['hero', 'imageAlt'], MEDIA.hero);
      if (video !== undefined) need(['video'], MEDIA.video);
      if (promise?.imageAlt !== undefined) need(['promise', 'imageAlt'], MEDIA.promise);
      for (const at of inside?.pictures.keys() ?? []) need(['inside', 'pictures', at], mediaOfPages(at));
      if (inside !== undefined && benefits === undefined)
        complain(
          ['inside'],
          'stands at the end of benefits, which are not there; write them, or take this out',
        );
      for (const [at, { icon }] of benefits?.cards.entries() ?? []) {
        const message = iconMistake(icon);
        if (message !== null) complain(['benefits', 'cards', at, 'icon'], message, true);
      }
      for (const [at, { logo }] of logos?.companies.entries() ?? []) {
        if (logo === undefined) continue;
        const entry = ['logos', 'companies', at, 'logo'];
        if (logo.endsWith('.svg')) needSvg(entry, logo);
        else if (sizeInName(logo) !== null) need(entry, [logo]);
      }
      for (const [at, { image, logo }] of testimonials?.cards.entries() ?? []) {
        if (logo !== undefined) needSvg(['testimonials', 'cards', at, 'logo'], logo);
        if (image === undefined) continue;
        const entry = ['testimonials', 'cards', at, 'image'];
        const [, name = ''] = /^(?:media\/)?(.+?)(?:\.\w+)?$/.exec(image) ?? [];
        if (name === image) need(entry, both([image]));
        else
          complain(
            entry,
            `must be the name alone, ${name}; media/${name}.avif and media/${name}.webp are taken`,
          );
      }
    }),
  );

/**
 * The size of a picture whose name says it, as acme-320x80.webp.
 * @returns CSS pixels; null when it does not say
 */
export function sizeInName(file: string): { width: number; height: number } | null {
  const [, width, height] = /-(\d+)x(\d+)\.\w+$/.exec(file) ?? [];
  return width === undefined ? null : { width: Number(width), height: Number(height) };
}

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

/**
 * Reads one YAML file of words and checks it.
 * @param folder the campaign folder
 * @param file its path within that folder
 * @param variant whose file of that name is laid over it, if there is one; null: none
 */
export function readWords<Words>(
  folder: string,
  file: string,
  schema: z.ZodMiniType<Words>,
  variant: string | null = null,
): ParsedWords<Words> {
  const read = readText(folder, file);
  if (read === null) return { type: 'mistakes', mistakes: [missingMistake(folder, file)] };
  if (read.type === 'mistake') return { type: 'mistakes', mistakes: [read.mistake] };
  const own = variant === null ? null : inVariant(variant, file);
  const above = own === null ? null : readText(folder, own);
  if (above?.type === 'mistake') return { type: 'mistakes', mistakes: [above.mistake] };
  return parseWords(
    nameOf(folder, file),
    read.text,
    schema,
    own === null || above === null
      ? null
      : {
          file: nameOf(folder, own),
          text: above.text,
          prepare: file === 'landing.yaml' ? leaveOut : undefined,
        },
  );
}

/** A variant that lists its sections leaves out the others. */
const leaveOut: WordsAbove['prepare'] = (all, own) => {
  const { sections } = Object(own) as { readonly sections?: unknown };
  if (!Array.isArray(sections)) return all;
  const unwanted: string[] = SECTIONS.filter(
    (name) => !sections.includes(name) && !Object.hasOwn(Object(own) as object, name),
  );
  // Its pictures stand at the end of that section.
  if (unwanted.includes('benefits')) unwanted.push('inside');
  return Object.fromEntries(
    Object.entries(Object(all) as object).filter(([name]) => !unwanted.includes(name)),
  );
};

/** The version of a consent wording: made from the words themselves, so it cannot be forgotten. */
export const consentVersion = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 12);
