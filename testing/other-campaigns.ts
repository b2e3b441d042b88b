// Campaigns with other landing pages than the tests' own, made from it in folders that stay, so that their sites are built once.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { parse, stringify } from 'yaml';

import { SECTIONS } from '#shared/campaign-schema.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
const FOLDER = path.join(PROJECT_FOLDER, 'node_modules', '.cache', 'campaigns');
const REARRANGED = path.join(PROJECT_FOLDER, 'testing', 'rearranged');

/** The tests' campaign with another landing page. @param media folders of pictures, in place of the tests' own */
function makeCampaign(name: string, landing: string, media: readonly string[] = []): string {
  const folder = path.join(FOLDER, name);
  mkdirSync(folder, { recursive: true });
  cpSync(TEST_CAMPAIGN, folder, {
    recursive: true,
    filter: (place) => !/[\\/]media$|landing\.yaml$/.test(place),
  });
  writeFileSync(path.join(folder, 'landing.yaml'), landing);
  for (const from of media) cpSync(from, path.join(folder, 'media'), { recursive: true });
  return folder;
}

const mediaOf = (campaign: string): string => path.join(campaign, 'media');

const landingOf = (campaign: string): string => readFileSync(path.join(campaign, 'landing.yaml'), 'utf8');

/** Without testimonials, problems and film, with questions and logos, in another order: testing/rearranged. @returns its folder */
export const rearrangedCampaign = (): string =>
  makeCampaign('rearranged', landingOf(REARRANGED), [mediaOf(REARRANGED)]);

/** With every section that there is, the film among them alone, from the last to the first. @returns its folder */
export function reversedCampaign(): string {
  const { logos, questions } = parse(landingOf(REARRANGED)) as Readonly<Record<string, unknown>>;
  const landing = parse(landingOf(TEST_CAMPAIGN)) as Readonly<Record<string, unknown>>;
  const sections = SECTIONS.toReversed();
  return makeCampaign('reversed', stringify({ ...landing, sections, logos, questions }), [
    mediaOf(TEST_CAMPAIGN),
    mediaOf(REARRANGED),
  ]);
}

/** With the hero and the closing card alone. @returns its folder */
export function bareCampaign(): string {
  const landing = parse(landingOf(TEST_CAMPAIGN)) as {
    readonly hero: Readonly<Record<string, unknown>>;
    readonly closing: unknown;
    readonly promise: Readonly<Record<string, unknown>>;
    readonly withoutScript: unknown;
  };
  const { closing, withoutScript } = landing;
  const { imageAlt: _picture, ...hero } = landing.hero;
  const { imageAlt: _cover, ...promise } = landing.promise;
  return makeCampaign('bare', stringify({ hero, closing, promise, withoutScript }));
}
