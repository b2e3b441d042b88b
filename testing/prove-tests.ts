// `npm run prove:tests [text]` plants each fault in a copy of the project; its tests must fail. A text selects faults by
// promise or file.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync, type DisposableTempDir } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { run } from 'node:test';

import { FAULTS, plantedSource, type PlantedFault } from '#testing/planted-faults.ts';
import { copyProject } from '#testing/project-copy.ts';
import { globalSetup, globalTeardown } from '#testing/test-setup.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
const TIMEOUT_MS = 300_000;

type Outcome = {
  readonly fault: PlantedFault;
  readonly caughtBy: readonly string[];
  readonly ranTests: number;
};

const [filter = ''] = process.argv.slice(2);
const faults = FAULTS.filter(({ promise, file }) => promise.includes(filter) || file.includes(filter));
if (faults.length === 0) throw new Error(`No planted fault contains "${filter}".`);
for (const fault of faults) plantedSource(PROJECT_FOLDER, fault);

await globalSetup();
try {
  const outcomes = await proveAll();
  const missed = outcomes.filter(({ caughtBy }) => caughtBy.length === 0);
  for (const { fault, ranTests } of missed)
    process.stderr.write(
      `NOT CAUGHT  ${fault.promise}: ${fault.fault} (${fault.file}; ${ranTests} tests ran)\n`,
    );
  process.stdout.write(
    `${outcomes.length - missed.length} of ${outcomes.length} planted faults were caught.\n`,
  );
  if (missed.length > 0) process.exitCode = 1;
} finally {
  await globalTeardown();
}

async function proveAll(): Promise<readonly Outcome[]> {
  const queue = [...faults];
  const outcomes: Outcome[] = [];
  await Promise.all(
    Array.from({ length: Math.min(availableParallelism(), queue.length) }, async () => {
      using copy = copyWorkingTree();
      for (let fault = queue.shift(); fault !== undefined; fault = queue.shift()) {
        const outcome = await proveOne(copy.path, fault);
        outcomes.push(outcome);
        process.stdout.write(
          `${outcome.caughtBy.length > 0 ? 'caught' : 'MISSED'}  ${fault.promise}: ${fault.fault}\n`,
        );
        const [title] = outcome.caughtBy;
        if (title !== undefined) process.stdout.write(`        by: ${title}\n`);
      }
    }),
  );
  return outcomes;
}

async function proveOne(copy: string, fault: PlantedFault): Promise<Outcome> {
  const file = path.join(copy, fault.file);
  const original = readFileSync(file);
  writeFileSync(file, plantedSource(copy, fault));
  try {
    const logic = fault.tests.filter((test) => test.endsWith('.test.ts'));
    const browser = fault.tests.filter((test) => test.endsWith('.spec.ts'));
    const results = [
      ...(logic.length > 0 ? await runLogic(copy, logic) : []),
      ...(browser.length > 0 ? runBrowser(copy, browser) : []),
    ];
    const caughtBy = results.filter(({ passed }) => !passed).map(({ title }) => title);
    return { fault, caughtBy, ranTests: results.length };
  } finally {
    writeFileSync(file, original);
  }
}

type TestResult = { readonly title: string; readonly passed: boolean };

/** Stops after the first failing test. A file that does not load does not count as a caught fault; only its tests do. */
async function runLogic(copy: string, tests: readonly string[]): Promise<readonly TestResult[]> {
  const results: TestResult[] = [];
  const files = tests.map((test) => path.join(copy, test));
  const caught = new AbortController();
  const events = run({
    files,
    cwd: copy,
    concurrency: 1,
    timeout: TIMEOUT_MS,
    signal: caught.signal,
  });
  events.on('test:complete', ({ name, details }) => {
    const { passed, type } = details as { passed?: boolean; type?: string };
    if (type === 'suite' || files.includes(name) || tests.includes(name)) return;
    results.push({ title: name, passed: passed === true });
    if (passed !== true) caught.abort();
  });
  for await (const _event of events);
  return results;
}

function runBrowser(copy: string, specs: readonly string[]): readonly TestResult[] {
  const { stdout } = spawnSync(
    'npx',
    ['playwright', 'test', '--config=e2e', '--workers=1', '-x', '--reporter=list', ...specs],
    { cwd: copy, encoding: 'utf8', timeout: TIMEOUT_MS },
  );
  const lines = stdout.split('\n').map((line) => /^\s+([✓✘ok]+|x)\s+\d+ .* › (.*)$/.exec(line));
  return lines.flatMap((match) =>
    match ? [{ title: match[2] ?? '', passed: match[1] === '✓' || match[1] === 'ok' }] : [],
  );
}

function copyWorkingTree(): DisposableTempDir {
  const { stdout } = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: PROJECT_FOLDER,
    encoding: 'utf8',
  });
  const copy = copyProject(stdout.split('\0').filter(Boolean));
  const build = spawnSync(process.execPath, ['build/build.ts'], {
    cwd: copy.path,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, CAMPAIGN_FOLDER: path.join(copy.path, 'testing', 'campaign') },
  });
  if (build.status !== 0) throw new Error('The site of the copy could not be built.');
  return copy;
}
