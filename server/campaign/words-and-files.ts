import { statSync } from 'node:fs';
import path from 'node:path';

import { iconMistake, mediaMistakes, mediaOf, portraitIn } from '#server/campaign/pictures.ts';
import { readWords } from '#server/campaign/words-file.ts';
import {
  isVideoInHowItWorks,
  GuideEmail,
  Landing,
  reporting,
  SECTIONS,
  sectionsOf,
  Site,
  type SectionName,
  type WordsMistake,
} from '#shared/campaign-schema.ts';
import { linkMistake } from '#shared/words.ts';

// These schemas also check the files that the words name.

export const siteSchemaOf = (folder: string, variant: string | null = null) =>
  Site.check(
    reporting(function* ({ footerLinks, readOn, logo, download }: Site) {
      const links: Link[] = footerLinks.map(({ href }, at) => ({ entry: ['footerLinks', at, 'href'], href }));
      if (readOn !== undefined) links.push({ entry: ['readOn', 'href'], href: readOn.href });
      yield* linkMistakes(folder, variant, links);
      if (download !== undefined)
        yield* guideFileMistakes(folder, ['download', 'file'], download.file, DOWNLOAD);
      if (logo !== undefined) yield* mediaMistakesAt(folder, ['logo'], [logo]);
    }),
  );

const mediaMistakesAt = (
  folder: string,
  entry: readonly PropertyKey[],
  files: readonly string[],
): WordsMistake[] => mediaMistakes(folder, files).map((message) => ({ entry, message }));

type Link = { readonly entry: readonly PropertyKey[]; readonly href: string };

function linkMistakes(folder: string, variant: string | null, links: readonly Link[]): WordsMistake[] {
  const toSections = links.filter(({ href }) => /^#./.test(href));
  const anchors = toSections.length === 0 ? [] : anchorsOf(folder, variant);
  return toSections.flatMap(({ entry, href }) => {
    const message = linkMistake(href, anchors);
    return message === null ? [] : [{ entry, message }];
  });
}

function anchorsOf(folder: string, variant: string | null): string[] {
  const landing = readWords(folder, 'landing.yaml', landingSchemaOf(folder), variant);
  const sections = landing.type === 'words' ? sectionsOf(landing.words) : [...SECTIONS];
  return [
    ...sections
      .filter((name) => name !== 'video' || !isVideoInHowItWorks(sections))
      .map((name) => name.replaceAll(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`)),
    'closing',
  ];
}

type FileLimit = { readonly megabytes: number; readonly reason: (most: number) => string };

/** During a restart, two processes have the file in memory. */
const DOWNLOAD: FileLimit = {
  megabytes: 50,
  reason: (most) => `the limit is ${most} MB, because the server keeps the file in memory`,
};

/** Base64 adds a third to the size, and many mail servers limit mails to 10 MB. */
const ATTACHMENT: FileLimit = {
  megabytes: 7,
  reason: (most) => `many mail servers refuse attachments of more than ${most} MB`,
};

function guideFileMistakes(
  folder: string,
  entry: readonly PropertyKey[],
  name: string,
  { megabytes, reason }: FileLimit,
): WordsMistake[] {
  const file = statSync(guideFileIn(folder, name), { throwIfNoEntry: false });
  if (!file?.isFile())
    return [{ entry, message: `needs article/${name}. Add the missing file, or remove the entry` }];
  if (file.size <= megabytes * 1e6) return [];
  const message = `names a file of ${Math.ceil(file.size / 1e6)} MB, but ${reason(megabytes)}. Use a smaller file`;
  return [{ entry, message }];
}

/** The article's folder is not served. */
export const guideFileIn = (folder: string, name: string): string => path.join(folder, 'article', name);

export const guideEmailSchemaOf = (folder: string) =>
  GuideEmail.check(
    reporting(({ attachment }) =>
      attachment === undefined ? [] : guideFileMistakes(folder, ['attachment'], attachment, ATTACHMENT),
    ),
  );

export const landingSchemaOf = (folder: string) =>
  Landing.check(
    reporting(function* (landing: Landing) {
      const { inside, benefits, testimonials } = landing;
      yield* orderMistakes(landing);
      for (const { entry, files } of mediaOf(landing)) yield* mediaMistakesAt(folder, entry, files);
      if (inside !== undefined && benefits === undefined)
        yield {
          entry: ['inside'],
          message: 'belongs to the end of benefits, which are missing. Add benefits, or remove this entry',
        };
      for (const [at, { icon }] of (benefits?.cards ?? []).entries()) {
        const message = iconMistake(icon);
        if (message !== null) yield { entry: ['benefits', 'cards', at, 'icon'], message };
      }
      for (const [at, { image = '' }] of (testimonials?.cards ?? []).entries()) {
        const name = portraitIn(image);
        const message = `must be only the name, ${name}. The page uses media/${name}.avif and media/${name}.webp`;
        if (name !== image) yield { entry: ['testimonials', 'cards', at, 'image'], message };
      }
    }),
  );

function* orderMistakes(landing: Landing): Iterable<WordsMistake> {
  const { sections } = landing;
  if (sections === undefined) return;
  const isPresent = (name: SectionName) => landing[name] !== undefined;
  for (const [at, name] of sections.entries()) {
    const entry = ['sections', at];
    if (sections.indexOf(name) < at)
      yield { entry, message: `${name} is in the list twice. Remove one of the two` };
    else if (!isPresent(name))
      yield { entry, message: `there is no section ${name}. Write its words, or remove the name` };
  }
  for (const name of SECTIONS)
    if (isPresent(name) && !sections.includes(name))
      yield {
        entry: [name],
        message: `is not in the list of sections, so no visitor would see it. Add ${name} to the list, or remove these words`,
      };
}
