// A real PgBouncer in transaction mode (Debian: apt install pgbouncer).
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { freePort } from '#testing/free-port.ts';
import { unprivilegedOwner, untilReady } from '#testing/postgres-server.ts';
import { findProgram, notTested } from '#testing/programs.ts';
import { endProcess } from '#testing/start-program.ts';

const SERVER_CONNECTIONS = 4;

export type PgBouncer = {
  readonly through: (databaseUrl: string) => string;
  readonly stop: () => Promise<void>;
};

export async function startPgBouncer(server: string): Promise<PgBouncer> {
  const program = findProgram('pgbouncer');
  if (program === undefined) throw new Error(notTested('pgbouncer'));
  const { username, password, hostname, port: serverPort } = new URL(server);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lead-page-pgbouncer-'));
  const owner = unprivilegedOwner();
  const port = await freePort();
  const users = path.join(folder, 'users');
  const configuration = path.join(folder, 'pgbouncer.ini');
  writeFileSync(users, `"${username}" "${password}"\n`);
  writeFileSync(
    configuration,
    [
      '[databases]',
      `* = host=${hostname} port=${serverPort}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = scram-sha-256',
      `auth_file = ${users}`,
      'pool_mode = transaction',
      'max_client_conn = 1000',
      `default_pool_size = ${SERVER_CONNECTIONS}`,
      'server_idle_timeout = 5',
      '',
    ].join('\n'),
  );
  chmodSync(folder, 0o755);
  if (owner) for (const file of [folder, users, configuration]) chownSync(file, owner.uid, owner.gid);
  const child = spawn(program, ['-q', configuration], { cwd: folder, ...owner, stdio: 'ignore' });
  const through = (databaseUrl: string): string => {
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${port}`;
    return url.href;
  };
  await untilReady('PgBouncer', through(server), () => child.exitCode !== null || child.signalCode !== null);
  return {
    through,
    stop: async () => {
      await endProcess(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
