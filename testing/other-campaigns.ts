// Campaigns with other landing pages than the tests' own, made from it in folders that stay, so that their sites are built once.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { parse, stringify } from 'yaml';

import { TEST_CAMPAIGN } from '#testing/built-site.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
const FOLDER = path.join(PROJECT_FOLDER, 'node_modules', '.cache', 'campaigns');
const REARRANGED = path.join(PROJECT_FOLDER, 'testing', 'rearranged');

/** The tests' campaign with another landing page, and no pictures but those that the page itself has. */
function makeCampaign(name: string, landing: string): string {
  const folder = path.join(FOLDER, name);
  mkdirSync(folder, { recursive: true });
  cpSync(TEST_CAMPAIGN, folder, {
    recursive: true,
    filter: (place) => !/[\\/]media$|landing\.yaml$/.test(place),
  });
  writeFileSync(path.join(folder, 'landing.yaml'), landing);
  return folder;
}

/** Without testimonials, problems and film, with questions and logos, in another order: testing/rearranged. @returns its folder */
export function rearrangedCampaign(): string {
  const folder = makeCampaign('rearranged', readFileSync(path.join(REARRANGED, 'landing.yaml'), 'utf8'));
  cpSync(path.join(REARRANGED, 'media'), path.join(folder, 'media'), { recursive: true });
  return folder;
}

/** With the hero and the closing card alone. @returns its folder */
export function bareCampaign(): string {
  const landing = parse(readFileSync(path.join(TEST_CAMPAIGN, 'landing.yaml'), 'utf8')) as {
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
