// nginx and Caddy as operators run them: with the files of deploy/, in which only names, ports and certificates are replaced.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';

import { TEST_CERTIFICATE, TEST_KEY } from '#testing/certificate.ts';
import { findProgram } from '#testing/programs.ts';
import { until } from '#testing/until.ts';

const DEPLOY = path.resolve(import.meta.dirname, '..', 'deploy');

export type ProxyName = 'nginx' | 'caddy';
export type ProxyPorts = {
  readonly http: number;
  readonly https: number;
  /** Of the page's processes. Caddy takes the first. */
  readonly pages: readonly number[];
};
export type Proxy = { readonly close: () => Promise<void> };

/** A file of deploy/ with this in the place of that. Throws when something to be replaced is not there. */
function readDeployed(name: string, replacements: readonly (readonly [from: string, to: string])[]): string {
  return replacements.reduce(
    (text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`deploy/${name} has no "${from}".`);
      return text.replaceAll(from, to);
    },
    readFileSync(path.join(DEPLOY, name), 'utf8'),
  );
}

/** nginx with one file of Debian's kind around ours, compression and all. */
function configureNginx(folder: string, ports: ProxyPorts, withDefaults: boolean): string[] {
  const certificate = path.join(folder, 'certificate.pem');
  const key = path.join(folder, 'key.pem');
  writeFileSync(certificate, TEST_CERTIFICATE);
  writeFileSync(key, TEST_KEY, { mode: 0o600 });
  const place = '/etc/letsencrypt/live/guide.example.com';
  const site = readDeployed('nginx.conf', [
    [`${place}/fullchain.pem`, certificate],
    [`${place}/privkey.pem`, key],
    ['https://guide.example.com', `https://localhost:${ports.https}`],
    ['guide.example.com', 'localhost'],
    [
      '\tserver 127.0.0.1:3000 max_fails=0;',
      ports.pages.map((page) => `server 127.0.0.1:${page} max_fails=0;`).join('\n'),
    ],
    ['listen 80;', `listen 127.0.0.1:${ports.http};`],
    ['listen 443', `listen 127.0.0.1:${ports.https}`],
    // Not every machine has IPv6.
    ['listen [::]', '# listen [::]'],
  ]);
  const file = path.join(folder, 'site.conf');
  writeFileSync(file, withDefaults ? withoutTries(site) : site);
  const main = path.join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (what) => `${what}_temp_path ${path.join(folder, what)};`,
  );
  writeFileSync(
    main,
    `daemon off; pid ${path.join(folder, 'pid')}; error_log stderr;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
events { worker_connections 2048; }
http { access_log off; gzip on; ${temporary.join(' ')} include ${file}; }
`,
  );
  return ['-p', folder, '-c', main];
}

/** nginx as it is when nothing is set: it leaves a server out after one refusal, and gives a form up that met a connection's end. */
const withoutTries = (site: string): string =>
  site
    .replaceAll(' max_fails=0', '')
    .replace(' non_idempotent', '')
    .replace(/error_page .*;/, '');

function configureCaddy(folder: string, ports: ProxyPorts): string[] {
  const file = path.join(folder, 'Caddyfile');
  writeFileSync(
    file,
    `{
	http_port ${ports.http}
	https_port ${ports.https}
	admin off
	skip_install_trust
}
${readDeployed('Caddyfile', [
  ['{$GUIDE_HOST:guide.example.com}', 'localhost'],
  ['{$GUIDE_BACKEND:127.0.0.1:3000}', `127.0.0.1:${ports.pages[0]}`],
])}`,
  );
  return ['run', '--config', file, '--adapter', 'caddyfile'];
}

/**
 * Starts one of them for https://localhost, in front of a page on 127.0.0.1, and waits until it listens.
 * @param options withDefaults: nginx without the lines that make it try again, for comparison
 */
export async function startProxy(
  name: ProxyName,
  ports: ProxyPorts,
  { withDefaults = false }: { readonly withDefaults?: boolean } = {},
): Promise<Proxy> {
  const program = findProgram(name);
  if (program === undefined) throw new Error(`${name} is not installed.`);
  const folder = mkdtempSync(path.join(os.tmpdir(), `lead-page-${name}-`));
  const parameters =
    name === 'nginx' ? configureNginx(folder, ports, withDefaults) : configureCaddy(folder, ports);
  const child = spawn(program, parameters, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const close = async () => {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}:\n${said}`);
      return (await listens(ports.http)) && listens(ports.https);
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
