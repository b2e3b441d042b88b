// Checks the documents' links, headings, npm scripts, test names and paths, and the workflows' scripts and pinned actions.
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { PROJECT_FOLDER } from '#build/vite-config.ts';

const read = (name: string): string => readFileSync(path.join(PROJECT_FOLDER, name), 'utf8');
const problems: string[] = [];

const { scripts } = JSON.parse(read('package.json')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const documents = globSync(['*.md', 'docs/**/*.md', 'e2e/*.md', '.github/*.md'], { cwd: PROJECT_FOLDER });

/** Matches the path of a test file without its extension, and the beginning of a title. */
const NAMED_TEST = /`([\w-]+(?:\/[\w-]+)+)` "([^"]+)"/g;

const anchorsIn = (text: string): ReadonlySet<string> =>
  new Set(
    Array.from(text.matchAll(/^#{1,6} (.+)$/gm), ([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

for (const document of documents) {
  const text = read(document);
  for (const [, name = '', title = ''] of text.matchAll(NAMED_TEST)) {
    const [file] = globSync([`${name}.spec.ts`, `${name}.test.ts`], { cwd: PROJECT_FOLDER });
    if (file === undefined || !read(file).includes(title))
      problems.push(`${document} names the test "${title}" in ${name}, which does not exist.`);
  }
  for (const [, link, picture] of text
    .replaceAll(/`[^`\n]+`/g, '')
    .matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)) {
    const target = link ?? picture ?? '';
    if (/^(https?:|mailto:)/.test(target)) continue;
    const [file = '', anchor] = target.split('#');
    const destination = file === '' ? document : path.join(path.dirname(document), file);
    if (!existsSync(path.join(PROJECT_FOLDER, destination)))
      problems.push(`${document} links to ${target}, which does not exist.`);
    else if (anchor !== undefined && destination.endsWith('.md') && !anchorsIn(read(destination)).has(anchor))
      problems.push(`${document} links to ${target}, and ${destination} has no such heading.`);
  }
  checkScripts(document, text);
}

for (const [, named = ''] of read('docs/changing.md').matchAll(/`([^`\s]+[./][^`\s]*)`/g)) {
  if (!existsSync(path.join(PROJECT_FOLDER, named)))
    problems.push(`docs/changing.md names ${named}, which does not exist.`);
}

function checkScripts(file: string, text: string): void {
  for (const [, script = ''] of text.matchAll(/npm run (?:-s )?([a-z:-]+)/g)) {
    if (!(script in scripts))
      problems.push(`${file} names "npm run ${script}", which is not in package.json.`);
  }
}

for (const workflow of globSync('.github/workflows/*.yml', { cwd: PROJECT_FOLDER })) {
  const text = read(workflow);
  checkScripts(workflow, text);
  for (const [, action = ''] of text.matchAll(/^[\s-]*uses: (.+)$/gm)) {
    // Requires a commit hash, because tags can move. Renovate updates the version in the comment.
    if (!/^[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v[\d.]+$/.test(action))
      problems.push(`${workflow} uses ${action} without a commit hash. Write @HASH # vVERSION.`);
  }
}

const [, testCommand] = /^(npm ci && npm test)$/m.exec(read('README.md')) ?? [];
if (testCommand === undefined) problems.push('README.md lacks the test command "npm ci && npm test".');
else if (!read('.ci/run').split('\n').includes(testCommand))
  problems.push(`.ci/run does not call "${testCommand}".`);

for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exit(1);
