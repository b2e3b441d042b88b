// Compares `.env.example` and the table in docs/running.md with the settings table. Usage: settings.ts [--write] (updates both)
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { format } from 'oxfmt';

import { PROJECT_FOLDER } from '#build/vite-config.ts';
import { expectCurrent } from '#checks/generated.ts';
import { SETTINGS, type Setting } from '#server/settings/settings-table.ts';

const PAGE = 'docs/running.md';
const HEAD =
  'Copy to .env and remove the "# " of the lines you change. Each line shows a default or an example. Quote a value that contains #. Environment variables override this file.';
const COMMENT_WIDTH = 110;

const entries: readonly (readonly [name: string, setting: Setting])[] = Object.entries(SETTINGS);

const comment = (text: string): string => {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length > COMMENT_WIDTH) lines.push(` ${word}`);
    else lines[lines.length - 1] = line;
  }
  return lines.map((line) => `#${line}\n`).join('');
};

const example = [
  comment(HEAD),
  ...entries.map(([name, { group, meaning, details, default: fallback, example: shown }]) => {
    const heading = group === undefined ? '' : `\n# ---- ${group} ----\n`;
    const help = comment([meaning, details].filter((part) => part !== undefined).join(' '));
    return `${heading}\n${help}# ${name}=${fallback ?? shown ?? ''}\n`;
  }),
].join('');

const table = [
  '| setting | default | meaning |\n| --- | --- | --- |\n',
  ...entries.map(([name, { meaning, default: fallback, ifUnset = '' }]) => {
    const linked = meaning.replaceAll(/docs\/([\w-]+)\.md/g, '[$1]($1.md)').replace(/\.$/, '');
    return `| ${name} | ${fallback === undefined ? ifUnset : `\`${fallback}\``} | ${linked} |\n`;
  }),
].join('');
const page = readFileSync(path.join(PROJECT_FOLDER, PAGE), 'utf8');
const inPage = /^\| setting +\| default +\|.*\n(?:\|.*\n)+/m;
const { code: formatted } = await format(PAGE, table);
const current = page.replace(inPage, formatted);

for (const [file, text] of [
  ['.env.example', example],
  [PAGE, current],
] as const)
  expectCurrent(file, text, 'server/settings/settings-table.ts', 'settings.ts');
