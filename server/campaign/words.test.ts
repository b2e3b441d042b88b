// Visitors see only text from campaign/. This test searches the server's code for prose; exceptions are listed with reasons.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import { parseSync } from 'vite';

import { PROJECT_FOLDER } from '#server/platform/files.ts';

const FOR_OPERATORS: Readonly<Record<string, string>> = {
  'server/secrets/secrets.ts': 'why a secret cannot be used',
  'server/settings/connection-urls.ts': 'settings',
  'server/settings/env-file.ts': 'settings',
  'server/settings/rules-across-settings.ts': 'settings',
  'server/settings/setting-values.ts': 'settings',
  'server/settings/settings.ts': 'settings',
  'server/settings/settings-table.ts': 'settings',
  'server/platform/system-errors.ts': 'errors of the operating system',
  'server/http/health.ts': 'for monitors and the desk',
  'server/http/releases.ts': 'why the built site cannot be served',
  // The desk is in English, and older campaigns contain no text for it.
  'server/mail/templates/desk-code-mail.ts': 'for the people of DESK_PEOPLE',
  'server/mail/dkim-key.ts': 'why the DKIM key does not work',
  'server/mail/mailer.ts': 'why the mail account does not work',
  'server/log/logger.ts': 'the log',
  'server/log/metrics.ts': 'for monitors',
  'server/platform/files.ts': 'files that others can read',
  'server/platform/text.ts': 'settings, and mistakes in campaign/',
  'server/startup/why-the-start-failed.ts': 'why the server cannot start',
  'server/startup/service.ts': 'why the server cannot start',
  'server/platform/ip-addresses.ts': 'why a webhook is not called',
  'server/webhooks/webhook-sender.ts': 'why a webhook failed',
  'server/campaign/article.ts': 'mistakes in campaign/',
  'server/campaign/campaign.ts': 'mistakes in campaign/',
  'server/campaign/campaign-folder.ts': 'mistakes in campaign/',
  'server/campaign/campaign-warnings.ts': 'mistakes in campaign/',
  'server/campaign/sample.ts': 'words of the sample in campaign/',
  'server/campaign/pictures.ts': 'mistakes in campaign/',
  'server/campaign/words-and-files.ts': 'mistakes in campaign/',
  'server/campaign/words-file.ts': 'mistakes in campaign/',
  'server/campaign/yaml-mistakes.ts': 'mistakes in campaign/',
  'server/campaign/words-mistakes.ts': 'mistakes in campaign/',
  // Default texts for visitors; form.yaml can replace them all.
  'server/campaign/own-form.ts': 'mistakes in form.yaml, and its default sentences in English and German',
};

const FOR_THE_DESK = /^server\/(?:platform\/dns\.ts|stats\/|attribution\/)/;

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
  'server/campaign/article.ts': ['… width="…" height="…" loading="lazy"'],
  'server/limits/breaker.ts': ['breaker is open'],
  'server/limits/limits.ts': ['attempts without challenge', 'attempts at live codes', 'attempts at nothing'],
  'server/leads/proof-of-work.ts': ['proof of work', 'challenge …', 'solution …', 'proof of work: …'],
  'server/bounces/providers.ts': ['Basic …', 'Invalid Address'],
  'server/bounces/accept-report.ts': ['no type of feedback', 'no action'],
  'server/bounces/read-message.ts': ['DELIVERY FAILURE: ', 'a mail server'],
  'server/mail/mail-worker.ts': ['no running version of this software knows the kind "…"', 'no longer valid'],
  'server/webhooks/lead-as-json.ts': ['Not given here. Imported: …'],
  'server/webhooks/webhook-events.ts': ['Ada Lovelace', 'Analytical Engines'],
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

describe('words for visitors', () => {
  it("words for visitors come from campaign/, never from the server's code", () => {
    const files = globSync(['server/**/*.ts', 'shared/api.ts'], { cwd: PROJECT_FOLDER })
      .map((file) => file.replaceAll(path.sep, '/'))
      .filter((file) => !file.endsWith('.test.ts') && !/^server\/(?:db|codes|jobs|consent)\//.test(file))
      .map((file) => ({ file, ...proseIn(readFileSync(path.join(PROJECT_FOLDER, file), 'utf8')) }));
    const names = new Set(files.flatMap((file) => file.names));
    const found = files.flatMap(({ file, prose }) =>
      prose
        .filter(
          (text) =>
            !names.has(text) &&
            !(file in FOR_OPERATORS) &&
            !FOR_THE_DESK.test(file) &&
            !ALLOWED[file]?.includes(text),
        )
        .map((text) => `${file}: ${text}`),
    );
    assert.deepEqual(found, [], 'move them to campaign/, or say here who reads them');
  });
});
