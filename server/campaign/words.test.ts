// Visitors see only text from campaign/. This test searches the server's code for sentences; exceptions are listed with reasons.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

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

const ALLOWED: ReadonlySet<string> = new Set([
  // Written directly to the socket, before the campaign is known.
  'Request Timeout',
  'Request Header Fields Too Large',
  'Bad Request',
  'The request could not be read. Please check the program that sent it.',
  'Your browser sent too many cookies for this page to open. Please clear the cookies of this site, or use a private window.',
  'The request must name exactly one host. Please send a single Host header.',
  // For the operator.
  'This process uses too much memory. Restart the server.',
]);

const COMMENT = /\/\*[^]*?\*\/|\/\/ .*/g;
/** A call whose text goes to the log, the metrics or an error; its parentheses are at most three deep. */
const SAID_TO_OTHERS =
  /\b(?:debug|info|warn|error|fatal|createMinuteLog|(?:[A-Z]\w*)?Error|Counter|Gauge|Histogram)(?:<[^>]*>)?\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/g;
const TEXT = /(['"`])((?:(?!\1)[^\\\n]|\\.)*)\1/g;
const SENTENCE = /^\p{Lu}[\p{L}’]* (?:\p{L}{2,}|\$\{)/u;

it("sentences for visitors come from campaign/, never from the server's code", () => {
  const files = globSync([ROOMS, 'shared/api.ts'], { cwd: PROJECT_FOLDER })
    .map((file) => file.replaceAll(path.sep, '/'))
    .filter((file) => !file.endsWith('.test.ts') && !(file in FOR_OPERATORS));
  const found = files.flatMap((file) => {
    const source = readFileSync(path.join(PROJECT_FOLDER, file), 'utf8');
    const code = source.replaceAll(COMMENT, '').replaceAll(SAID_TO_OTHERS, '');
    return Array.from(code.matchAll(TEXT), ([, , text = '']) => text)
      .filter((text) => SENTENCE.test(text) && !ALLOWED.has(text))
      .map((text) => `${file}: ${text}`);
  });
  assert.deepEqual(found, [], 'move them to campaign/, or say here who reads them');
});
