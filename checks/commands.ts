// Compares docs/commands.md with the help of every command. Leaves out single examples, which mostly repeat the usage line. Usage:
// commands.ts [--write] (updates the page)
import { readFileSync } from 'node:fs';
import path from 'node:path';

import type { CommandUnknownOpts } from '@commander-js/extra-typings';

import { PROJECT_FOLDER } from '#build/vite-config.ts';
import { expectCurrent } from '#checks/generated.ts';
import { createProgram } from '#desk/commands/all-commands.ts';

const PAGE = 'docs/commands.md';
const MARK = '<!-- The rest is the help of every command: node checks/commands.ts --write -->\n';
const HELP_WIDTH = 110;
/** Descriptions of options that the beginning of the page explains. */
const EXPLAINED_ABOVE = new Set([
  'as one JSON document',
  'do not ask for confirmation',
  'text in the e-mail address, name or company',
  'a utm_source, an advertiser (google-ads, …), a site or direct',
  'a utm_campaign',
  'first verified, asked or imported at or after this time',
  'first verified, asked or imported before this time',
]);

const helpText: string[] = [];
const program = createProgram({ clock: () => 0 } as Parameters<typeof createProgram>[0], {
  writeOut: (text) => helpText.push(text),
  getOutHelpWidth: () => HELP_WIDTH,
});

function helpOf(command: CommandUnknownOpts): string {
  helpText.length = 0;
  command.outputHelp();
  return helpText.join('');
}

const leaves = (command: CommandUnknownOpts, name: string): (readonly [string, CommandUnknownOpts])[] =>
  command.commands.length === 0
    ? [[name, command]]
    : command.commands
        .toSorted((a, b) => (a.name() < b.name() ? -1 : 1))
        .flatMap((sub) => leaves(sub, `${name} ${sub.name()}`.trim()));

function section([name, command]: readonly [string, CommandUnknownOpts]): string {
  const takes = command.registeredArguments
    .map((argument) => {
      const shown = `${argument.name()}${argument.variadic ? '...' : ''}`;
      return argument.required ? ` <${shown}>` : ` [${shown}]`;
    })
    .join('');
  const needs = command.options
    .filter(({ mandatory, defaultValue }) => mandatory && defaultValue === undefined)
    .map(({ flags }) => ` ${flags}`)
    .join('');
  const common = command.options
    .filter(({ description }) => EXPLAINED_ABOVE.has(description))
    .map(({ flags }) => ` [${flags}]`)
    .join('');
  const details = helpOf(command)
    .split('\n')
    .filter(
      (line) =>
        !/^\s+-h, --help/.test(line) && !EXPLAINED_ABOVE.has(line.replace(/^\s+--\w+(?: <\w+>)?\s+/, '')),
    )
    .join('\n')
    .replace(/^Usage: [^]*?\n\n[^]*?\n\n/, '')
    .replaceAll('$ npm run -s desk -- ', '$ desk ')
    .replace(/Options:\n(?=\n|$)/, '')
    .replace(/\n*Example:\n[^]*$/, '')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
  const description = command.description();
  const sentence = `${description.charAt(0).toUpperCase()}${description.slice(1)}.`;
  return `\n## ${name}\n\n\`${name}${takes}${needs}${common}\`: ${sentence}\n${details === '' ? '' : `\n\`\`\`text\n${details}\n\`\`\`\n`}`;
}

const page = readFileSync(path.join(PROJECT_FOLDER, PAGE), 'utf8');
const [intro = ''] = page.split(MARK, 1);
const current = `${intro}${MARK}${leaves(program, '').map(section).join('')}`;
expectCurrent(PAGE, current, 'the help of the commands', 'commands.ts');
