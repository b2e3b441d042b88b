// A real nginx (Debian's) in front of servers on this machine, as an operator would have it, but for the certificate.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { freePort } from '#testing/free-port.ts';

export type Nginx = { readonly url: string; readonly close: () => Promise<void> };

/**
 * Starts it on a free port of 127.0.0.1.
 * @param ports of the servers behind it
 * @param options keepsTrying: no server is left out because it could not be reached once. As it is, nginx leaves it out for 10 s
 */
export async function startNginx(
  ports: readonly number[],
  { keepsTrying }: { readonly keepsTrying: boolean },
): Promise<Nginx> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'nginx-'));
  const port = await freePort();
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const config = path.join(folder, 'nginx.conf');
  writeFileSync(
    config,
    `daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
pid ${folder}/nginx.pid;
error_log ${folder}/error.log warn;
events { worker_connections 2048; }
http {
  access_log off;
  ${places.map((place) => `${place}_temp_path ${folder}/${place};`).join('\n  ')}
  upstream page {
    ${ports.map((one) => `server 127.0.0.1:${one}${keepsTrying ? ' max_fails=0' : ''};`).join('\n    ')}
    keepalive 32;
    # Less than the 72 s of the server, so that nginx ends a connection first.
    keepalive_timeout 60s;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://page;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_next_upstream error timeout;
    }
  }
}
`,
  );
  const child = spawn('nginx', ['-c', config, '-p', folder], { stdio: 'inherit' });
  const ended = once(child, 'exit');
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error('nginx could not start.');
    await setTimeout(20);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
