// Builds the image with buildah and runs it with podman like deploy/compose.yaml. Usage: image.ts [--base IMAGE] [--dry]
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';

import { PROJECT_FOLDER } from '#build/vite-config.ts';
import { createPostgresDatabase } from '#testing/databases.ts';
import { freePort } from '#testing/free-port.ts';
import { startInbox } from '#testing/inbox.ts';
import { findProgram, notTested } from '#testing/programs.ts';
import { startProxy } from '#testing/proxies.ts';
import { TEST_SECRET } from '#testing/server-under-test.ts';
import { siteSettings } from '#testing/start-site.ts';
import { until } from '#testing/until.ts';
import { createProof } from '#stress/harness/proof.ts';
import { becomeLead } from '#stress/harness/visitors.ts';

const MOST_MEGABYTES = 60;
/** compose.yaml allows 20 s; docker stop's default is 10 s. */
const STOP_WITHIN_S = 20;
const RESTARTS = 3;
const VISITORS = 20;
const BASE = 'localhost/lead-page-base';
const IMAGE = 'localhost/lead-page';

const proof = createProof('prove:image');
const { expect } = proof;

const lacking = ['buildah', 'podman'].filter((name) => spawnSync(name, ['--version']).status !== 0);
if (process.platform !== 'linux' || lacking.length > 0 || process.getuid?.() !== 0) {
  process.stderr.write(
    `!!! THE IMAGE WAS NOT TESTED. This needs Linux, root and ${['buildah', 'podman'].join(' and ')}. ` +
      'On Debian: apt-get install buildah podman runc debootstrap\n',
  );
  process.exit(1);
}

const folder = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'lead-page-image-'));
const storage = ['--root', path.join(folder, 'storage'), '--runroot', path.join(folder, 'run')];
const buildahEnv = { ...process.env, BUILDAH_ISOLATION: 'chroot' };
const say = (line: string) => process.stdout.write(`${line}\n`);

const buildah = (...parameters: readonly string[]): string =>
  execFileSync('buildah', [...storage, ...parameters], {
    encoding: 'utf8',
    cwd: PROJECT_FOLDER,
    env: buildahEnv,
    maxBuffer: 64_000_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();

let podmanOptions: readonly string[] = [];
const PODMAN_OPTIONS = [
  [],
  ['--cgroup-manager=cgroupfs'],
  ['--cgroup-manager=cgroupfs', '--runtime=runc'],
] as const;
/** podman's defaults exceed the limits of some machines. */
const ULIMITS = ['--ulimit', 'nofile=16384:16384', '--ulimit', 'nproc=4096:4096'];
/** Asynchronous, because this process is also the mail server. */
const tryPodman = async (...parameters: readonly string[]) => {
  const child = spawn('podman', [...storage, ...podmanOptions, ...parameters], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { status, stdout, stderr };
};
const podman = async (...parameters: readonly string[]): Promise<string> => {
  const { status, stdout, stderr } = await tryPodman(...parameters);
  if (status !== 0) throw new Error(`podman ${parameters.join(' ')} ended with ${status}:\n${stderr}`);
  return stdout.trim();
};

function makeBase(): string {
  const dockerfile = readFileSync(path.join(PROJECT_FOLDER, 'Dockerfile'), 'utf8');
  const named = process.argv[2] === '--base' ? process.argv[3] : undefined;
  const wanted = named ?? /^ARG NODE_IMAGE=(\S+)/m.exec(dockerfile)?.[1] ?? '';
  if (spawnSync('buildah', [...storage, 'pull', '-q', wanted], { timeout: 120_000 }).status === 0) {
    buildah('tag', wanted, BASE);
    return wanted;
  }
  say(`${wanted} is not available; using a Debian from debootstrap instead.`);
  const root = path.join(folder, 'debian');
  execFileSync('debootstrap', ['--variant=minbase', '--include=ca-certificates', 'bookworm', root], {
    stdio: 'ignore',
  });
  cpSync(process.execPath, path.join(root, 'usr/local/bin/node'), { dereference: true });
  const npm = realpathSync(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim());
  const modules = path.join(root, 'usr/local/lib/node_modules');
  mkdirSync(modules, { recursive: true });
  cpSync(path.resolve(npm, '..', '..'), path.join(modules, 'npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', path.join(root, 'usr/local/bin/npm'));
  // A company network may have its own certificate authority.
  const authorities = 'etc/ssl/certs/ca-certificates.crt';
  if (existsSync(`/${authorities}`)) cpSync(`/${authorities}`, path.join(root, authorities));
  execFileSync('chroot', [root, 'useradd', '--uid', '1000', '--create-home', 'node']);
  const container = buildah('from', 'scratch');
  buildah('add', '-q', container, root, '/');
  buildah('config', '--env', `NPM_CONFIG_CAFILE=/${authorities}`, container);
  buildah('config', '--env', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', container);
  buildah('commit', '-q', container, BASE);
  buildah('rm', container);
  return 'Debian 12 (debootstrap) with the pinned Node';
}

const seconds = (since: number): number => Math.round((performance.now() - since) / 100) / 10;
const inspect = async <T>(what: string, format: string): Promise<T> =>
  JSON.parse(await podman('inspect', '--format', format, what)) as T;

type Container = { readonly name: string; readonly url: string };

async function run(
  name: string,
  env: Readonly<Record<string, string>>,
  ...command: readonly string[]
): Promise<Container> {
  const { PORT = '' } = env;
  await podman(
    'run',
    '-d',
    '--name',
    name,
    '--network',
    'host',
    ...ULIMITS,
    '--read-only',
    '--cap-drop=ALL',
    '--security-opt=no-new-privileges',
    '--tmpfs',
    '/tmp',
    '--volume',
    `${name}:/app/data`,
    ...Object.entries({ HOST: '127.0.0.1', ...env }).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    IMAGE,
    ...command,
  );
  return { name, url: `http://127.0.0.1:${PORT}` };
}

const ready = ({ url }: Container): Promise<void> =>
  until(() =>
    fetch(`${url}/api/health`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );

const inbox = await startInbox();
try {
  await prove();
} finally {
  await tryPodman('rm', '--all', '--force', '--time', '0');
  await tryPodman('volume', 'rm', '--all', '--force');
  await inbox.close();
  rmSync(folder, { recursive: true, force: true });
}

async function stop({ name }: Container): Promise<number> {
  const begun = performance.now();
  await podman('stop', '--time', String(STOP_WITHIN_S), name);
  const code = await inspect<number>(name, '{{json .State.ExitCode}}');
  expect(code === 0, `SIGTERM ended ${name} with ${code}.`);
  const finished = seconds(begun);
  expect(finished < STOP_WITHIN_S, `${name} took ${finished} s to stop.`);
  return finished;
}

async function prove(): Promise<void> {
  const base = makeBase();
  const begun = performance.now();
  writeFileSync(
    path.join(folder, 'build.log'),
    buildah(
      'bud',
      '--format',
      'docker',
      '--pull-never',
      '--build-arg',
      `NODE_IMAGE=${BASE}`,
      '--tag',
      IMAGE,
      '.',
    ),
  );
  const builtWithin = seconds(begun);
  for (const options of PODMAN_OPTIONS) {
    podmanOptions = options;
    const { status } = await tryPodman('run', '--rm', '--network', 'host', ...ULIMITS, BASE, 'true');
    if (status === 0) break;
  }

  const size =
    (await inspect<number>(IMAGE, '{{json .Size}}')) - (await inspect<number>(BASE, '{{json .Size}}'));
  const megabytes = Math.round(size / 1e6);
  expect(megabytes <= MOST_MEGABYTES, `The image is ${megabytes} MB over its base.`);
  type Config = {
    readonly User: string;
    readonly StopSignal: string;
    readonly Healthcheck?: object;
    readonly Labels: object;
  };
  const config = await inspect<Config>(IMAGE, '{{json .Config}}');
  expect(config.User === 'node', `The image runs as "${config.User}".`);
  const packages = await compareSbom();
  const translated = await translatedFiles();
  expect(translated === 0, `A start translates ${translated} files that the build should have compiled.`);

  const settings = async (databaseUrl: string) => ({
    PORT: String(await freePort()),
    ...siteSettings(databaseUrl, inbox),
    TRUST_PROXY: '1',
    LEADS_PER_IP_PER_HOUR: '0',
    VERIFY_PER_IP_PER_HOUR: '0',
  });
  const head = [
    'engine',
    's until ready',
    's until stopped',
    `pages/failed during ${RESTARTS} restarts`,
    'forms/refused/failed',
  ];
  const rows = proof.rows(...head);
  for (const engine of ['sqlite', 'postgres'] as const) {
    const databaseUrl =
      engine === 'sqlite'
        ? 'file:./data/leads.db'
        : await createPostgresDatabase((await proof.postgres()).url);
    const started = performance.now();
    const env = await settings(databaseUrl);
    const page = await run(`page-${engine}`, env);
    await ready(page);
    const readyWithin = seconds(started);
    const email = `${engine}@example.com`;
    await becomeLead({ ...page, inbox }, email);
    const inside = (...command: readonly string[]) => tryPodman('exec', page.name, ...command);
    expect(
      (await inside('desk', 'leads')).stdout.includes(email),
      `The desk does not show the lead (${engine}).`,
    );
    await inside('desk', 'report', '--out', '/app/data/report.html');
    expect(
      (await inside('grep', '-c', '<svg', '/app/data/report.html')).status === 0,
      `The desk draws no report (${engine}).`,
    );
    expect(
      (await inside('id', '-u')).stdout.trim() === '1000',
      'The container does not run as the user node.',
    );
    expect((await inside('touch', '/app/x')).status !== 0, 'The files of the container are writable.');
    expect(
      (await inside('sh', '-c', 'cat /proc/[0-9]*/stat | grep -c ") Z "')).stdout.trim() === '0',
      'The container has zombie processes.',
    );
    // Runs the health check directly, because podman's timer for it needs systemd.
    expect(
      (await tryPodman('healthcheck', 'run', page.name)).status === 0,
      'The health check of the container failed.',
    );
    const stoppedWithin = await stop(page);
    await podman('start', page.name);
    await ready(page);
    expect((await inside('desk', 'leads')).stdout.includes(email), `A restart lost the lead (${engine}).`);
    const counted =
      findProgram('caddy') === undefined ? null : await restartBehindCaddy(page, Number(env.PORT));
    if (counted === null) process.stderr.write(`${notTested('caddy')}\n`);
    await stop(page);
    rows.add(
      engine,
      readyWithin,
      stoppedWithin,
      ...(counted === null
        ? ['not tried', 'not tried']
        : [
            `${counted.pages}/${counted.failedPages}`,
            `${counted.forms}/${counted.refusedForms}/${counted.failedForms}`,
          ]),
    );
  }
  await stopDuringStart();

  await proof.end(
    `Built on ${base} in ${builtWithin} s: ${megabytes} MB over it, ${packages} packages, each in the SBOM. ${rows.say(...head.slice(1))}`,
    rows.table(),
  );
}

async function compareSbom(): Promise<number> {
  const inImage = (command: string) =>
    podman('run', '--rm', '--network', 'host', ...ULIMITS, '--read-only', IMAGE, 'sh', '-c', command);
  const sbom = JSON.parse(await inImage('cat sbom.cdx.json')) as {
    components: { name: string; group?: string; version: string }[];
  };
  const listed = sbom.components.map(
    ({ group, name, version }) => `${group ? `${group}/` : ''}${name}@${version}`,
  );
  const script = `const { globSync, readFileSync } = require('node:fs');
for (const file of globSync('node_modules/**/package.json')) {
  if (!/(^|\\/)node_modules\\/(@[^/]+\\/)?[^/]+\\/package.json$/.test(file)) continue;
  const { name, version } = JSON.parse(readFileSync(file, 'utf8'));
  console.log(name + '@' + version);
}`;
  const encoded = Buffer.from(script).toString('base64');
  const there = (await inImage(`node -e "$(echo ${encoded} | base64 -d)"`)).split('\n');
  const [one, other] = [new Set(listed), new Set(there)];
  for (const name of one.difference(other)) expect(false, `The SBOM names ${name}, which is not installed.`);
  for (const name of other.difference(one)) expect(false, `The SBOM does not name ${name}.`);
  return other.size;
}

async function translatedFiles(): Promise<number> {
  const { stderr } = await tryPodman(
    'run',
    '--rm',
    '--network',
    'host',
    ...ULIMITS,
    '--read-only',
    '--tmpfs',
    '/tmp',
    '--env',
    'NODE_DEBUG_NATIVE=COMPILE_CACHE',
    IMAGE,
    'node',
    'server/start.js',
    '--check',
  );
  const lines = stderr
    .split('\n')
    .filter((line) => /reading cache from .* StrippedTypeScript file:\/\/\/app\/server\//.test(line));
  expect(lines.length > 20, 'The check for files compiled at start did not run.');
  return lines.filter((line) => !/\bsuccess\b/.test(line)).length;
}

type Counts = {
  readonly pages: number;
  readonly failedPages: number;
  readonly forms: number;
  /** 503 with an error message and Retry-After: Caddy does not repeat a form that was in transit when the process ended. */
  readonly refusedForms: number;
  readonly failedForms: number;
};

async function restartBehindCaddy(page: Container, port: number): Promise<Counts> {
  const ports = { http: await freePort(), https: await freePort(), pages: [port] };
  const proxy = await startProxy('caddy', ports);
  // Caddy's own authority signs for localhost.
  const script = path.join(folder, 'visitors.mjs');
  writeFileSync(
    script,
    `const [origin, visitors] = process.argv.slice(2);
const counts = { pages: 0, failedPages: 0, forms: 0, refusedForms: 0, failedForms: 0 };
let stopping = false;
process.stdin.on('end', () => (stopping = true)).resume();
await Promise.all(Array.from({ length: Number(visitors) }, async (_, visitor) => {
  for (let turn = 0; !stopping; turn += 1) {
    const email = 'v-' + process.pid + '-' + visitor + '-' + turn + '@example.com';
    const form = { name: 'Ada', company: 'Engines', email, consent: true };
    const isForm = turn % 5 === 0;
    const init = isForm && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(form) };
    const answer = await fetch(origin + (isForm ? '/api/leads' : '/'), init || undefined).catch(() => null);
    await answer?.text();
    counts[isForm ? 'forms' : 'pages'] += 1;
    const isSentence = answer?.status === 503 && answer.headers.get('content-type')?.startsWith('text/plain') && answer.headers.has('retry-after');
    if (isForm && isSentence) counts.refusedForms += 1;
    else if (!answer?.ok) counts[isForm ? 'failedForms' : 'failedPages'] += 1;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}));
console.log(JSON.stringify(counts));`,
  );
  try {
    const visitors = spawn(process.execPath, [script, `https://localhost:${ports.https}`, String(VISITORS)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' },
    });
    let said = '';
    visitors.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const exited = once(visitors, 'exit');
    for (let restart = 0; restart < RESTARTS; restart += 1) {
      await setTimeout(1_000);
      await promisedRestart(page);
    }
    visitors.stdin.end();
    await exited;
    const counted = JSON.parse(said) as Counts;
    const { failedPages, failedForms } = counted;
    expect(failedPages === 0, `${failedPages} pages failed while ${page.name} restarted.`);
    expect(failedForms === 0, `${failedForms} forms got no sentence while ${page.name} restarted.`);
    return counted;
  } finally {
    await proxy.close();
  }
}

async function promisedRestart(page: Container): Promise<void> {
  await stop(page);
  await podman('start', page.name);
  await ready(page);
}

/** A container's first process ignores signals without a handler, but must still stop while it waits during its start. */
async function stopDuringStart(): Promise<void> {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const page = await run('page-waits', {
    PORT: String(await freePort()),
    DATABASE_URL: `postgres://leads:leads@127.0.0.1:${port}/leads`,
    APP_SECRET: TEST_SECRET,
  });
  const connected = once(silent, 'connection', { signal: AbortSignal.timeout(10_000) });
  await connected;
  const begun = performance.now();
  await podman('stop', '--time', String(STOP_WITHIN_S), page.name);
  const code = await inspect<number>(page.name, '{{json .State.ExitCode}}');
  expect(
    code === 143 && seconds(begun) < STOP_WITHIN_S,
    `SIGTERM during the start: ended with ${code} after ${seconds(begun)} s.`,
  );
  silent.close();
}
