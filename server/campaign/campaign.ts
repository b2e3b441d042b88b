import { hash } from 'node:crypto';
import path from 'node:path';

import { readArticle } from '#server/campaign/article.ts';
import {
  brokenLink,
  filesIn,
  displayPath,
  OWN_PAGE,
  readText,
  variantMistakes,
  variantsIn,
} from '#server/campaign/campaign-folder.ts';
import { readForm } from '#server/campaign/own-form.ts';
import {
  guideEmailSchemaOf,
  guideFileIn,
  landingSchemaOf,
  siteSchemaOf,
} from '#server/campaign/words-and-files.ts';
import { readWords, type ReadWords } from '#server/campaign/words-file.ts';
import { isFolder } from '#server/platform/files.ts';
import { mistakesOf, describeMistake, type Mistake } from '#server/platform/mistakes.ts';
import type { Article } from '#shared/api.ts';
import {
  BreakerEmail,
  CodeEmail,
  Consent,
  Errors,
  Interface,
  LINK,
  NewLeadEmail,
  type GuideEmail,
  type OwnForm,
  type Site,
} from '#shared/campaign-schema.ts';
import { withYear } from '#shared/words.ts';

type ConsentSentence = {
  /** With the target of each link in parentheses, as evidence. */
  readonly text: string;
  readonly version: string;
  /** The sentence, cut at its links. */
  readonly parts: readonly (string | { readonly label: string; readonly href: string })[];
  readonly isLinked: boolean;
};

export type ConsentWording = ConsentSentence & {
  /** Null if the form has no box for news. */
  readonly news: ConsentSentence | null;
  /** Refuses forms with a wording that no page shows any more. */
  readonly refuseEarlier: boolean;
};

export type Campaign = {
  readonly folder: string;
  readonly site: Site;
  readonly interface: Interface;
  readonly codeEmail: CodeEmail;
  readonly guideEmail: GuideEmail;
  readonly guideFile: string | null;
  readonly downloadFile: string | null;
  readonly breakerEmail: BreakerEmail;
  readonly newLeadEmail: NewLeadEmail;
  readonly errors: Errors;
  readonly consent: ConsentWording;
  readonly form: OwnForm;
  readonly article: Article;
  readonly freeMailDomains: ReadonlySet<string>;
  /** All versions of the page, the campaign's own first, as OWN_PAGE. Empty without variants. */
  readonly variants: readonly Variant[];
};

export type Variant = { readonly name: string; readonly consent: ConsentWording };

export type CampaignResult =
  | { readonly type: 'campaign'; readonly campaign: Campaign }
  | {
      readonly type: 'mistakes';
      readonly mistakes: readonly string[];
    };

/** Reads everything but landing.yaml and the variants' own site.yaml, which only the build needs. */
export function readCampaign(folder: string): CampaignResult {
  if (!isFolder(folder))
    return {
      type: 'mistakes',
      mistakes: [`CAMPAIGN_FOLDER names ${folder}, which is not an existing folder. Correct the path.`],
    };
  const site = readWords(folder, 'site.yaml', siteSchemaOf(folder));
  const interfaceWords = readWords(folder, 'interface.yaml', Interface);
  const result = combineWords({
    site,
    interface: interfaceWords,
    codeEmail: readWords(folder, 'emails/code.yaml', CodeEmail),
    guideEmail: readWords(folder, 'emails/guide.yaml', guideEmailSchemaOf(folder)),
    breakerEmail: readWords(folder, 'emails/breaker.yaml', BreakerEmail),
    newLeadEmail: readWords(folder, 'emails/new-lead.yaml', NewLeadEmail),
    errors: readWords(folder, 'errors.yaml', Errors),
    consent: readConsent(folder),
    form: readForm(folder, site.type === 'words' ? site.words.language : 'en'),
    article: readArticle(folder, interfaceWords.type === 'words' ? interfaceWords.words : undefined),
    freeMailDomains: readFreeMailDomains(folder),
    variants: readVariants(folder),
  });
  if (result.type === 'mistakes') return { type: 'mistakes', mistakes: describeEach(result.mistakes) };
  const { words } = result;
  const fileIn = (name: string | undefined) => (name === undefined ? null : guideFileIn(folder, name));
  return {
    type: 'campaign',
    campaign: {
      folder,
      ...words,
      site: withYear(words.site, words.site.language),
      guideFile: fileIn(words.guideEmail.attachment),
      downloadFile: fileIn(words.site.download?.file),
    },
  };
}

/** Returns mistakes about words that a setting needs. The start, the doctor and the build report them. */
export function wordsMissingFor(
  settings: Readonly<Partial<Record<'guideEmail' | 'newLeadEmail' | 'freeMail', string | undefined>>>,
  words: CampaignResult,
): string[] {
  if (words.type === 'mistakes') return [];
  const { guideFile, newLeadEmail, freeMailDomains } = words.campaign;
  const { freeMail = 'off' } = settings;
  return [
    settings.guideEmail === 'attachment' &&
      guideFile === null &&
      'GUIDE_EMAIL is attachment, but emails/guide.yaml names no file. Put the file into the campaign’s article/ folder, and add "attachment: guide.pdf" with its name to guide.yaml.',
    settings.newLeadEmail === 'weekly' &&
      newLeadEmail.week === undefined &&
      'NEW_LEAD_EMAIL is weekly, but emails/new-lead.yaml has no words for it. Copy the part "week" from campaign/emails/new-lead.yaml of this release.',
    freeMail !== 'off' &&
      freeMailDomains.size === 0 &&
      `FREE_MAIL is ${freeMail}, but free-mail-domains.txt lists no domains. Restore the file, or copy it from the project’s examples/ folder.`,
  ].filter((sentence) => sentence !== false);
}

/** Returns all words, or the mistakes of all files. */
function combineWords<Words extends Readonly<Record<string, unknown>>>(results: {
  readonly [Name in keyof Words]: ReadWords<Words[Name]>;
}): ReadWords<Words> {
  const mistakes: Mistake[] = [];
  const words: Partial<Record<string, unknown>> = {};
  for (const [name, result] of Object.entries<ReadWords<unknown>>(results))
    if (result.type === 'words') words[name] = result.words;
    else mistakes.push(...result.mistakes);
  return mistakes.length > 0 ? mistakesOf(...mistakes) : { type: 'words', words: words as Words };
}

const describeEach = (mistakes: readonly Mistake[]): string[] => [...new Set(mistakes.map(describeMistake))];

/** Finds all mistakes: those of readCampaign and pageMistakes, and broken symbolic links. */
export function campaignMistakes(folder: string): readonly string[] {
  const words = readCampaign(folder);
  const broken = filesIn(folder).flatMap((file) => {
    const message = brokenLink(path.join(folder, file));
    return message === null
      ? []
      : [describeMistake({ file: displayPath(folder, file), message: `${message}.` })];
  });
  return [...(words.type === 'mistakes' ? words.mistakes : []), ...pageMistakes(folder), ...broken];
}

/** Finds mistakes that readCampaign ignores: in landing.yaml and the variants' own site.yaml. */
export function pageMistakes(folder: string): string[] {
  if (!isFolder(folder)) return [];
  const isSiteValid = readWords(folder, 'site.yaml', siteSchemaOf(folder)).type === 'words';
  return describeEach(
    [null, ...variantsIn(folder)].flatMap((variant) => {
      const landing = readWords(folder, 'landing.yaml', landingSchemaOf(folder), variant);
      if (landing.type === 'mistakes') return landing.mistakes;
      if (variant === null || !isSiteValid) return [];
      const site = readWords(folder, 'site.yaml', siteSchemaOf(folder, variant));
      if (site.type === 'words') return [];
      return site.mistakes.map((mistake) => ({
        ...mistake,
        message: `${mistake.message} (Variant ${variant}.)`,
      }));
    }),
  );
}

/**
 * Used by build and server, so they cannot disagree about the version.
 * @param variant null for the campaign itself
 */
export function readConsent(folder: string, variant: string | null = null): ReadWords<ConsentWording> {
  const result = readWords(folder, 'consent.yaml', Consent, variant);
  if (result.type === 'mistakes') return result;
  const { text, newsConsent, refuseEarlier = false } = result.words;
  const news = newsConsent === undefined ? null : consentSentence(newsConsent);
  return { type: 'words', words: { ...consentSentence(text), news, refuseEarlier } };
}

function consentSentence(written: string): ConsentSentence {
  const text = written.replace(LINK, '$1 ($2)');
  // LINK has two groups, so text, label and URL alternate.
  const pieces = written.split(LINK);
  const parts = pieces.flatMap((piece, at): ConsentSentence['parts'] => {
    if (at % 3 === 0) return piece === '' ? [] : [piece];
    return at % 3 === 1 ? [{ label: piece, href: pieces[at + 1] ?? '' }] : [];
  });
  return { text, version: consentVersion(text), parts, isLinked: pieces.length > 1 };
}

/** Hashes the consent wording, so a change of wording always changes the version. */
export const consentVersion = (text: string): string => hash('sha256', text).slice(0, 12);

function readVariants(folder: string): ReadWords<readonly Variant[]> {
  const names = variantsIn(folder);
  const mistakes = variantMistakes(folder);
  const variants: Variant[] = [];
  for (const name of names.length === 0 ? [] : [null, ...names]) {
    const consent = readConsent(folder, name);
    // The build uses interface.yaml; here it is only checked.
    for (const result of [consent, readWords(folder, 'interface.yaml', Interface, name)])
      if (result.type === 'mistakes') mistakes.push(...result.mistakes);
    if (consent.type === 'words') variants.push({ name: name ?? OWN_PAGE, consent: consent.words });
  }
  return mistakes.length > 0 ? mistakesOf(...mistakes) : { type: 'words', words: variants };
}

function readFreeMailDomains(folder: string): ReadWords<ReadonlySet<string>> {
  const file = 'free-mail-domains.txt';
  const domains = new Set<string>();
  const mistakes: Mistake[] = [];
  const read = readText(folder, file);
  if (read?.type === 'mistakes') return read;
  for (const [index, whole] of (read?.text ?? '').split('\n').entries()) {
    const line = whole.trim().toLowerCase();
    if (line === '' || line.startsWith('#')) continue;
    const domain = /^[^\s@/:?#,;*]+$/.test(line) ? URL.parse(`http://${line}`)?.hostname : undefined;
    if (domain?.includes('.') === true) domains.add(domain);
    else
      mistakes.push({
        file: displayPath(folder, file),
        line: index + 1,
        message: `${whole.trim()} is not a domain. Write one domain per line, such as gmail.com, and begin comment lines with #.`,
      });
  }
  return mistakes.length > 0 ? mistakesOf(...mistakes) : { type: 'words', words: domains };
}
