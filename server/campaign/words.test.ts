// Visitors see only text from campaign/. This test searches the server's code for prose; exceptions are listed with reasons.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

import { parseSync } from 'vite';

import { PROJECT_FOLDER } from '#server/platform/files.ts';

/** Other rooms speak to operators, the desk or programs. */
const ROOMS = 'server/{funnel,http,leads,limits,mail}/**/*.ts';

const FOR_OPERATORS: Readonly<Record<string, string>> = {
  'server/http/health.ts': 'for monitors and the desk',
  'server/http/releases.ts': 'why the built site cannot be served',
  // The desk is in English, and older campaigns contain no text for it.
  'server/mail/templates/desk-code-mail.ts': 'for the people of DESK_PEOPLE',
  'server/mail/dkim-key.ts': 'why the DKIM key does not work',
  'server/mail/mailer.ts': 'why the mail account does not work',
};

const SAID_TO_OTHERS =
  /^(?:(?:.+\.)?(?:log|logger)\.(?:debug|info|warn|error|fatal)|say|warn|createMinuteLog|refuseStart|explainFileFailure|(?:warnings|mistakes)\.push|(?:[A-Z]\w*)?Error|Counter|Gauge|Histogram|[^]+\.header)$/;

const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  // Written directly to the socket, before the campaign is known.
  'server/http/errors.ts': [
    'Request Timeout',
    'Request Header Fields Too Large',
    'Bad Request',
    'The request could not be read. Please check the program that sent it.',
    'Your browser sent too many cookies for this page to open. Please clear the cookies of this site, or use a private window.',
  ],
  'server/http/host-and-origin.ts': [
    'The request must name exactly one host. Please send a single Host header.',
  ],
  'server/http/load-shedding.ts': ['This process uses too much memory. Restart the server.'],
  'server/limits/breaker.ts': ['breaker is open'],
  'server/limits/limits.ts': ['attempts without challenge', 'attempts at live codes', 'attempts at nothing'],
  'server/leads/proof-of-work.ts': ['proof of work', 'challenge …', 'solution …', 'proof of work: …'],
  'server/mail/mail-worker.ts': [
    'no such address',
    'no running version of this software knows the kind "…"',
    'no longer valid',
  ],
};

type Tree = { readonly type: string; readonly start: number; readonly end: number } & Record<string, unknown>;

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

function walk(value: unknown, enters: (node: Tree) => boolean): void {
  if (Array.isArray(value)) for (const item of value) walk(item, enters);
  else if (isTree(value) && enters(value)) for (const part of Object.values(value)) walk(part, enters);
}

const TWO_WORDS = /(?:\p{L}{2,}|…) (?:\p{L}{2,}|…)/u;

function proseIn(source: string): { prose: string[]; names: string[] } {
  const prose: string[] = [];
  const names: string[] = [];
  walk(parseSync('file.ts', source).program, look);
  return { prose, names };

  function look(node: Tree): boolean {
    if (node.type === 'TSLiteralType') {
      if (isTree(node['literal'])) names.push(String(node['literal']['value']));
      return false;
    }
    if (node.type === 'CallExpression' || node.type === 'NewExpression') {
      const callee = node['callee'] as Tree;
      if (!SAID_TO_OTHERS.test(source.slice(callee.start, callee.end))) return true;
      walk(callee, look);
      return false;
    }
    const text =
      node.type === 'Literal' && typeof node['value'] === 'string'
        ? node['value']
        : node.type === 'TemplateLiteral'
          ? (node['quasis'] as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('…')
          : '';
    if (text.split(/<[^>]*>|\r\n/).some((part) => TWO_WORDS.test(part) && !part.startsWith('HTTP/')))
      prose.push(text);
    return true;
  }
}

it("words for visitors come from campaign/, never from the server's code", () => {
  const files = globSync([ROOMS, 'shared/api.ts'], { cwd: PROJECT_FOLDER })
    .map((file) => file.replaceAll(path.sep, '/'))
    .filter((file) => !file.endsWith('.test.ts') && !(file in FOR_OPERATORS))
    .map((file) => ({ file, ...proseIn(readFileSync(path.join(PROJECT_FOLDER, file), 'utf8')) }));
  const names = new Set(files.flatMap((file) => file.names));
  const found = files.flatMap(({ file, prose }) =>
    prose
      .filter((text) => !names.has(text) && !ALLOWED[file]?.includes(text))
      .map((text) => `${file}: ${text}`),
  );
  assert.deepEqual(found, [], 'move them to campaign/, or say here who reads them');
});
