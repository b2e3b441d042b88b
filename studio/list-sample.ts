// Adds the sentences and pictures of the shipped campaigns to server/campaign/sample-fingerprints.txt. Run it after changing
// them. Earlier ones stay in the list, because operators have copies. With --check, it only reports missing ones.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { filesIn } from '#server/campaign/campaign-folder.ts';
import { fingerprint, SAMPLE, sentencesIn, textsIn } from '#server/campaign/sample.ts';
import { PROJECT_FOLDER } from '#server/platform/files.ts';

const LIST = path.join(PROJECT_FOLDER, 'server', 'campaign', 'sample-fingerprints.txt');
const CAMPAIGNS = ['campaign', 'testing/campaign', 'examples/german'];

/** Every sentence in these files is about the sample's subject, except the neutral ones below. */
const ABOUT_THE_SUBJECT = /^(?:landing\.yaml|site\.yaml|article\/|media\/)/;
/** In other files, these words mark the subject. */
const SUBJECT = /outreach|\bcold e|prompt|chapter|marketing|angebot|kapitel/i;
/** Quoted by the specification. */
const NOT_OURS = 'consent.yaml';

const NEUTRAL: ReadonlySet<string> = new Set([
  ...SAMPLE.figures.map((figure) => figure.replace(/^>/, '')),
  ...SAMPLE.people,
  ...readFileSync(path.join(import.meta.dirname, 'neutral-sentences.txt'), 'utf8').split('\n'),
]);

function contentsOf(folder: string, file: string): (string | Buffer)[] {
  if (file === NOT_OURS) return [];
  if (/\.(?:avif|webp|png|svg|mp4|webm)$/.test(file)) return [readFileSync(path.join(folder, file))];
  return textsIn(folder, file)
    .flatMap(sentencesIn)
    .map(({ text }) => text)
    .filter((text) => !NEUTRAL.has(text) && (ABOUT_THE_SUBJECT.test(file) || SUBJECT.test(text)));
}

const found = CAMPAIGNS.flatMap((name) => {
  const folder = path.join(PROJECT_FOLDER, name);
  return filesIn(folder).flatMap((file) => contentsOf(folder, file));
}).map(fingerprint);
const listed = existsSync(LIST) ? readFileSync(LIST, 'utf8').trim().split(/\s+/) : [];
const missing = new Set(found.filter((one) => !listed.includes(one)));
if (process.argv.includes('--check') && missing.size > 0) {
  process.stderr.write(
    `${missing.size} sentences and pictures of the sample are not in the list. Run "node studio/list-sample.ts".\n`,
  );
  process.exit(1);
}
const all = [...new Set([...listed, ...found])].filter((one) => one !== '').toSorted();
const PER_LINE = 13;
const rows = all.flatMap((_, at) => (at % PER_LINE === 0 ? [all.slice(at, at + PER_LINE).join(' ')] : []));
writeFileSync(LIST, `${rows.join('\n')}\n`);
