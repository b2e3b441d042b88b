// nginx and Caddy use the files in deploy/, with other names, ports and certificates.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';

import { certificateFile } from '#testing/certificate.ts';
import { findProgram } from '#testing/programs.ts';
import { endProcess } from '#testing/start-program.ts';
import { until } from '#testing/until.ts';

const DEPLOY = path.resolve(import.meta.dirname, '..', 'deploy');

export type ProxyName = 'nginx' | 'caddy';
export type ProxyPorts = {
  readonly http: number;
  readonly https: number;
  /** Caddy uses only the first. */
  readonly pages: readonly number[];
};

export const MAIN_SITE = 'This is the main site.';

/** @param place the page at the root, under /guide of another site, or one of two host names */
export async function startProxy(
  name: ProxyName,
  ports: ProxyPorts,
  place: ProxyPlace,
): Promise<{ readonly close: () => Promise<void> }> {
  const program = findProgram(name);
  if (program === undefined) throw new Error(`${name} is not installed.`);
  const folder = mkdtempSync(path.join(os.tmpdir(), `lead-page-${name}-`));
  const configure = CONFIGURE[place][name];
  if (configure === null) throw new Error(`deploy/ has no file for this place with ${name}.`);
  const parameters = configure(folder, ports);
  const child = spawn(program, parameters, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const close = async () => {
    await endProcess(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}:\n${output}`);
      return (await opens(connect(ports.http, '127.0.0.1'), 'connect')) && speaksTls(ports.https);
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}

/** Caddy listens before it has a certificate, and refuses visitors until then. */
const speaksTls = (port: number): Promise<boolean> =>
  opens(
    connectTls({ host: '127.0.0.1', port, servername: 'localhost', rejectUnauthorized: false }),
    'secureConnect',
  );

const opens = (socket: Socket, event: 'connect' | 'secureConnect'): Promise<boolean> =>
  once(socket, event)
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());

const CONFIGURE = {
  root: { nginx: configureNginx, caddy: configureCaddy },
  path: { nginx: configureNginxPath, caddy: configureCaddyPath },
  guides: { nginx: configureNginxGuides, caddy: null },
} as const;

export type ProxyPlace = keyof typeof CONFIGURE;

function configureNginx(folder: string, ports: ProxyPorts): string[] {
  const place = '/etc/letsencrypt/live/guide.example.com';
  const servers = readDeployed('nginx.conf', [
    [`${place}/fullchain.pem`, CERTIFICATE],
    [`${place}/privkey.pem`, KEY],
    ['https://guide.example.com', `https://localhost:${ports.https}`],
    ['guide.example.com', 'localhost'],
    [
      '\tserver 127.0.0.1:3000 max_fails=0;',
      ports.pages.map((page) => `server 127.0.0.1:${page} max_fails=0;`).join('\n'),
    ],
    ...listenHere(ports),
  ]);
  return nginxWith(folder, servers);
}

/** Another site owns the host, claims scripts and pictures, sets strict policies and has its own error pages. */
function configureNginxPath(folder: string, ports: ProxyPorts): string[] {
  const snippet = path.join(folder, 'nginx-path.conf');
  const deployed = readDeployed('nginx-path.conf', [
    ['http://127.0.0.1:3000', `http://127.0.0.1:${ports.pages[0]}`],
  ]);
  // A second guide is a copy of the location (docs/install.md).
  const [location = ''] = /^location \^~ \/guide\/ \{\n[\s\S]*?^\}\n/m.exec(deployed) ?? [];
  const second =
    ports.pages[1] === undefined
      ? ''
      : location.replace('/guide/', '/other/').replace(`:${ports.pages[0]};`, `:${ports.pages[1]};`);
  writeFileSync(snippet, deployed + second);
  return nginxWith(
    folder,
    `server { listen 127.0.0.1:${ports.http}; return 301 https://localhost:${ports.https}$request_uri; }
server {
  listen 127.0.0.1:${ports.https} ssl http2; server_name localhost;
  ssl_certificate ${CERTIFICATE}; ssl_certificate_key ${KEY};
  add_header Content-Security-Policy "default-src 'none'" always;
  proxy_intercept_errors on; error_page 401 404 422 /error-of-the-site;
  location ~* \\.(js|css|png|webp|avif|woff2|svg|mp4)$ { root ${folder}/nowhere; expires 1y; }
  location / { default_type text/html; return 200 "${MAIN_SITE}"; }
  include ${snippet};
}`,
  );
}

function configureNginxGuides(folder: string, ports: ProxyPorts): string[] {
  const place = '/etc/letsencrypt/live/guides';
  return nginxWith(
    folder,
    readDeployed('nginx-guides.conf', [
      [`${place}/fullchain.pem`, CERTIFICATE],
      [`${place}/privkey.pem`, KEY],
      ['example.com', 'localhost'],
      [' 3001;', ` ${ports.pages[0]};`],
      [' 3002;', ` ${ports.pages[1]};`],
      ...listenHere(ports),
    ]),
  );
}

function nginxWith(folder: string, servers: string): string[] {
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
http { access_log off; gzip on; ${temporary.join(' ')} ${servers} }
`,
  );
  return ['-p', folder, '-c', main];
}

const listenHere = ({ http, https }: ProxyPorts): readonly (readonly [from: string, to: string])[] => [
  ['listen 80;', `listen 127.0.0.1:${http};`],
  ['listen 443', `listen 127.0.0.1:${https}`],
  ['listen [::]', '# listen [::]'],
];

function configureCaddy(folder: string, ports: ProxyPorts): string[] {
  return caddyWith(
    folder,
    ports,
    readDeployed('Caddyfile', [
      ['{$GUIDE_HOST:guide.example.com}', 'localhost'],
      ['{$GUIDE_BACKEND:127.0.0.1:3000}', `127.0.0.1:${ports.pages[0]}`],
    ]),
  );
}

function configureCaddyPath(folder: string, ports: ProxyPorts): string[] {
  const snippet = path.join(folder, 'path.caddy');
  writeFileSync(
    snippet,
    readDeployed('path.caddy', [
      ['reverse_proxy 127.0.0.1:3000', `reverse_proxy 127.0.0.1:${ports.pages[0]}`],
      ['lb_try_duration 20s', 'lb_try_duration 1s'],
    ]),
  );
  writeFileSync(path.join(folder, 'index.html'), MAIN_SITE);
  return caddyWith(
    folder,
    ports,
    `localhost {
	import ${snippet}
	handle {
		root * ${folder}
		try_files /index.html
		file_server
	}
}
`,
  );
}

function caddyWith(folder: string, ports: ProxyPorts, sites: string): string[] {
  const file = path.join(folder, 'Caddyfile');
  writeFileSync(
    file,
    `{
	http_port ${ports.http}
	https_port ${ports.https}
	admin off
	skip_install_trust
}
${sites}`,
  );
  return ['run', '--config', file, '--adapter', 'caddyfile'];
}

const [CERTIFICATE, KEY] = [certificateFile('localhost'), certificateFile('localhost-key')];

function readDeployed(name: string, replacements: readonly (readonly [from: string, to: string])[]): string {
  return replacements.reduce(
    (text, [from, to]) => {
      if (!text.includes(from))
        throw new Error(`deploy/${name} does not contain "${from}". Change testing/proxies.ts.`);
      return text.replaceAll(from, to);
    },
    readFileSync(path.join(DEPLOY, name), 'utf8'),
  );
}
