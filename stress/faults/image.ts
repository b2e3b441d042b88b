// Builds the image with buildah and runs it with podman like deploy/compose.yaml. --base IMAGE replaces the Dockerfile's.
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
import { ENGINES } from '#testing/databases.ts';
import { freePort } from '#testing/free-port.ts';
import { startInbox, type Inbox } from '#testing/inbox.ts';
import { findProgram, notTested } from '#testing/programs.ts';
import { startProxy } from '#testing/proxies.ts';
import { TEST_SECRET } from '#testing/server-under-test.ts';
import { siteDatabaseUrl, siteSettings } from '#testing/start-site.ts';
import { until } from '#testing/until.ts';
import { words } from '#testing/words.ts';
import { defineCase, type Trial } from '#stress/harness/cases.ts';
import { becomeLead } from '#stress/harness/visitors.ts';

const MOST_MEGABYTES = 60;
/** compose.yaml allows 20 s; docker stop's default is 10 s. */
const STOP_WITHIN_S = 20;
const RESTARTS = 3;
const VISITORS = 20;
const BASE = 'localhost/lead-page-base';
const IMAGE = 'localhost/lead-page';
const PODMAN_OPTIONS = ['', '--cgroup-manager=cgroupfs', '--cgroup-manager=cgroupfs --runtime=runc'];
/** podman's defaults exceed the limits of some machines. */
const ON_HOST = words(`--network host --ulimit nofile=16384:16384 --ulimit nproc=4096:4096`);
const READ_ONLY = words(`--read-only --tmpfs /tmp`);

export const image = defineCase({ base: '' }, async (trial, { base: named }) => {
  const lacking = ['buildah', 'podman'].filter((name) => spawnSync(name, ['--version']).status !== 0);
  if (process.platform !== 'linux' || lacking.length > 0 || process.getuid?.() !== 0)
    throw new Error(
      '!!! THE IMAGE WAS NOT TESTED. This needs Linux, root, buildah and podman. ' +
        'On Debian: apt-get install buildah podman runc debootstrap',
    );
  const head = [
    'engine',
    's until ready',
    's until stopped',
    `pages/failed during ${RESTARTS} restarts`,
    'forms/refused/failed',
  ];
  const rows = trial.rows(...head);
  const folder = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'lead-page-image-'));
  const machine = createMachine(folder);
  await using inbox = await startInbox();
  try {
    const base = makeBase(machine, folder, named);
    const begun = performance.now();
    const built = machine.buildah(
      ...words(`bud --format docker --pull-never --build-arg NODE_IMAGE=${BASE} --tag ${IMAGE} .`),
    );
    const builtWithin = seconds(begun);
    writeFileSync(path.join(folder, 'build.log'), built);
    await machine.choosePodmanOptions();
    const size = await machine.inspect<number>(IMAGE, '{{json .Size}}');
    const megabytes = Math.round((size - (await machine.inspect<number>(BASE, '{{json .Size}}'))) / 1e6);
    trial.expect(megabytes <= MOST_MEGABYTES, `The image is ${megabytes} MB over its base.`);
    const { User } = await machine.inspect<{ readonly User: string }>(IMAGE, '{{json .Config}}');
    trial.expect(User === 'node', `The image runs as "${User}".`);
    const packages = await compareSbom(trial, machine);
    await expectCompiled(trial, machine);
    for (const engine of ENGINES) {
      const server = engine === 'postgres' ? (await trial.postgres()).url : undefined;
      rows.add(
        engine,
        ...(await liveInContainer(
          trial,
          machine,
          engine,
          await siteDatabaseUrl(engine, server),
          inbox,
          folder,
        )),
      );
    }
    await stopDuringStart(trial, machine);
    return `Built on ${base} in ${builtWithin} s: ${megabytes} MB over it, ${packages} packages, each in the SBOM. ${rows.say(...head.slice(1))}`;
  } finally {
    await machine.tryPodman(...words(`rm --all --force --time 0`));
    await machine.tryPodman(...words(`volume rm --all --force`));
    rmSync(folder, { recursive: true, force: true });
  }
});

const seconds = (since: number): number => Math.round((performance.now() - since) / 100) / 10;

type Machine = ReturnType<typeof createMachine>;
type Container = { readonly name: string; readonly url: string };

/** Keeps images and containers in the folder. */
function createMachine(folder: string) {
  const storage = ['--root', path.join(folder, 'storage'), '--runroot', path.join(folder, 'run')];
  let podmanOptions: readonly string[] = [];
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
  const ready = ({ url }: Container): Promise<void> =>
    until(() =>
      fetch(`${url}/api/health`)
        .then(({ ok }) => ok)
        .catch(() => false),
    );
  return {
    buildah: (...parameters: readonly string[]): string =>
      execFileSync('buildah', [...storage, ...parameters], {
        encoding: 'utf8',
        cwd: PROJECT_FOLDER,
        env: { ...process.env, BUILDAH_ISOLATION: 'chroot' },
        maxBuffer: 64_000_000,
        stdio: ['ignore', 'pipe', 'pipe'],
      }).trim(),
    pull: (name: string): boolean =>
      spawnSync('buildah', [...storage, 'pull', '-q', name], { timeout: 120_000 }).status === 0,
    tryPodman,
    podman,
    choosePodmanOptions: async (): Promise<void> => {
      for (const options of PODMAN_OPTIONS) {
        podmanOptions = words(options);
        const { status } = await tryPodman('run', '--rm', ...ON_HOST, BASE, 'true');
        if (status === 0) return;
      }
    },
    inspect: async <T>(what: string, format: string): Promise<T> =>
      JSON.parse(await podman('inspect', '--format', format, what)) as T,
    run: async (name: string, env: Readonly<Record<string, string>>): Promise<Container> => {
      const settings = Object.entries({ HOST: '127.0.0.1', ...env });
      await podman(
        ...words(`run -d --name ${name} --volume ${name}:/app/data`),
        ...ON_HOST,
        ...READ_ONLY,
        ...words(`--cap-drop=ALL --security-opt=no-new-privileges`),
        ...settings.flatMap(([key, value]) => ['--env', `${key}=${value}`]),
        IMAGE,
      );
      return { name, url: `http://127.0.0.1:${env['PORT']}` };
    },
    ready,
    start: async (container: Container): Promise<void> => {
      await podman('start', container.name);
      await ready(container);
    },
    /** @returns the exit code and seconds */
    stop: async ({ name }: Container): Promise<readonly [number, number]> => {
      const begun = performance.now();
      await podman('stop', '--time', String(STOP_WITHIN_S), name);
      const code = JSON.parse(
        await podman('inspect', '--format', '{{json .State.ExitCode}}', name),
      ) as number;
      return [code, seconds(begun)];
    },
  };
}

function makeBase({ buildah, pull }: Machine, folder: string, named: string): string {
  const dockerfile = readFileSync(path.join(PROJECT_FOLDER, 'Dockerfile'), 'utf8');
  const wanted = (named || /^ARG NODE_IMAGE=(\S+)/m.exec(dockerfile)?.[1]) ?? '';
  if (pull(wanted)) {
    buildah('tag', wanted, BASE);
    return wanted;
  }
  process.stdout.write(`${wanted} is not available; using a Debian from debootstrap instead.\n`);
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
  for (const env of [
    `NPM_CONFIG_CAFILE=/${authorities}`,
    'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  ])
    buildah('config', '--env', env, container);
  buildah('commit', '-q', container, BASE);
  buildah('rm', container);
  return 'Debian 12 (debootstrap) with the pinned Node';
}

async function compareSbom(trial: Trial, { podman }: Machine): Promise<number> {
  const inImage = (...command: readonly string[]) =>
    podman('run', '--rm', ...ON_HOST, ...READ_ONLY, IMAGE, ...command);
  const sbom = JSON.parse(await inImage('cat', 'sbom.cdx.json')) as {
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
  const there = (await inImage('node', '-e', script)).split('\n');
  const [one, other] = [new Set(listed), new Set(there)];
  for (const name of one.difference(other))
    trial.expect(false, `The SBOM names ${name}, which is not installed.`);
  for (const name of other.difference(one)) trial.expect(false, `The SBOM does not name ${name}.`);
  return other.size;
}

async function expectCompiled(trial: Trial, { tryPodman }: Machine): Promise<void> {
  const { stderr } = await tryPodman(
    'run',
    '--rm',
    ...ON_HOST,
    ...READ_ONLY,
    ...words(`--env NODE_DEBUG_NATIVE=COMPILE_CACHE ${IMAGE} node server/start.js --check`),
  );
  const lines = stderr
    .split('\n')
    .filter((line) => /reading cache from .* StrippedTypeScript file:\/\/\/app\/server\//.test(line));
  trial.expect(lines.length > 20, 'The check for files compiled at start did not run.');
  const translated = lines.filter((line) => !/\bsuccess\b/.test(line)).length;
  trial.expect(
    translated === 0,
    `A start translates ${translated} files that the build should have compiled.`,
  );
}

async function liveInContainer(
  trial: Trial,
  machine: Machine,
  engine: string,
  databaseUrl: string,
  inbox: Inbox,
  folder: string,
): Promise<readonly (string | number)[]> {
  const { expect } = trial;
  const port = await freePort();
  const started = performance.now();
  const page = await machine.run(`page-${engine}`, {
    PORT: String(port),
    ...siteSettings(databaseUrl, inbox),
    TRUST_PROXY: '1',
    LEADS_PER_IP_PER_HOUR: '0',
    VERIFY_PER_IP_PER_HOUR: '0',
  });
  await machine.ready(page);
  const readyWithin = seconds(started);
  const email = `${engine}@example.com`;
  await becomeLead({ ...page, inbox }, email);
  const inside = (...command: readonly string[]) => machine.tryPodman('exec', page.name, ...command);
  const showsLead = async () => (await inside('desk', 'leads')).stdout.includes(email);
  const stop = async (): Promise<number> => {
    const [code, stoppedWithin] = await machine.stop(page);
    expect(code === 0, `SIGTERM ended ${page.name} with ${code}.`);
    expect(stoppedWithin < STOP_WITHIN_S, `${page.name} took ${stoppedWithin} s to stop.`);
    return stoppedWithin;
  };
  expect(await showsLead(), `The desk does not show the lead (${engine}).`);
  await inside('desk', 'report', '--out', '/app/data/report.html');
  const drawn = await inside('grep', '-c', '<svg', '/app/data/report.html');
  expect(drawn.status === 0, `The desk draws no report (${engine}).`);
  const user = (await inside('id', '-u')).stdout.trim();
  expect(user === '1000', 'The container does not run as the user node.');
  expect((await inside('touch', '/app/x')).status !== 0, 'The files of the container are writable.');
  const zombies = await inside('sh', '-c', 'cat /proc/[0-9]*/stat | grep -c ") Z "');
  expect(zombies.stdout.trim() === '0', 'The container has zombie processes.');
  // Runs the health check directly, because podman's timer for it needs systemd.
  const checked = await machine.tryPodman('healthcheck', 'run', page.name);
  expect(checked.status === 0, 'The health check of the container failed.');
  const stoppedWithin = await stop();
  await machine.start(page);
  expect(await showsLead(), `A restart lost the lead (${engine}).`);
  const hasCaddy = findProgram('caddy') !== undefined;
  if (!hasCaddy) process.stderr.write(`${notTested('caddy')}\n`);
  const counted = hasCaddy
    ? await visitThroughCaddy(port, folder, async () => {
        for (let restart = 0; restart < RESTARTS; restart += 1) {
          await setTimeout(1_000);
          await stop();
          await machine.start(page);
        }
      })
    : null;
  await stop();
  if (counted === null) return [readyWithin, stoppedWithin, 'not tried', 'not tried'];
  const { pages, failedPages, forms, refusedForms, failedForms } = counted;
  expect(failedPages === 0, `${failedPages} pages failed while ${page.name} restarted.`);
  expect(failedForms === 0, `${failedForms} forms got no sentence while ${page.name} restarted.`);
  return [readyWithin, stoppedWithin, `${pages}/${failedPages}`, `${forms}/${refusedForms}/${failedForms}`];
}

type Counts = {
  readonly pages: number;
  readonly failedPages: number;
  readonly forms: number;
  /** 503 with an error message and Retry-After: Caddy does not repeat a form that was in transit when the process ended. */
  readonly refusedForms: number;
  readonly failedForms: number;
};

async function visitThroughCaddy(
  port: number,
  folder: string,
  happening: () => Promise<void>,
): Promise<Counts> {
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
    const said = text(visitors.stdout);
    await happening();
    visitors.stdin.end();
    return JSON.parse(await said) as Counts;
  } finally {
    await proxy.close();
  }
}

/** A container's first process ignores signals without a handler, but must still stop while it waits during its start. */
async function stopDuringStart(trial: Trial, machine: Machine): Promise<void> {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const connected = once(silent, 'connection', { signal: AbortSignal.timeout(10_000) });
  const { port } = silent.address() as AddressInfo;
  const page = await machine.run('page-waits', {
    PORT: String(await freePort()),
    DATABASE_URL: `postgres://leads:leads@127.0.0.1:${port}/leads`,
    APP_SECRET: TEST_SECRET,
  });
  await connected;
  const [code, stoppedWithin] = await machine.stop(page);
  trial.expect(
    code === 143 && stoppedWithin < STOP_WITHIN_S,
    `SIGTERM during the start: ended with ${code} after ${stoppedWithin} s.`,
  );
  silent.close();
}
