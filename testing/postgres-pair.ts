import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { freePort } from '#testing/free-port.ts';
import { makePostgresFolder, type PostgresFolder } from '#testing/postgres-folder.ts';
import {
  binaries,
  initialise,
  launchPostgres,
  onPostgres,
  PASSWORD,
  unprivilegedOwner,
} from '#testing/postgres-server.ts';
import { until } from '#testing/until.ts';

type PostgresNode = {
  readonly name: string;
  readonly port: number;
  readonly url: string;
  readonly start: () => Promise<void>;
  /** SIGINT stops it cleanly, with everything replicated. SIGKILL imitates a crash of the machine. */
  readonly stop: (signal: 'SIGINT' | 'SIGKILL') => Promise<void>;
  readonly promote: () => Promise<void>;
  readonly copyFrom: (primary: PostgresNode) => Promise<void>;
  /** Restarts as a standby with its own data, after a clean stop. */
  readonly follow: (primary: PostgresNode) => Promise<void>;
  readonly waitForStandby: (waits: boolean) => Promise<void>;
  /** Resolves when a standby has caught up and commits wait for it. */
  readonly untilReplicated: () => Promise<void>;
  readonly ask: <Row extends object>(sql: string) => Promise<readonly Row[]>;
};

export type PostgresPair = {
  readonly a: PostgresNode;
  readonly b: PostgresNode;
} & AsyncDisposable;

/**
 * Starts both; commits at the primary wait for the standby.
 * @param fsync may be false if only processes are killed, never the machine
 */
export async function startPostgresPair({
  fsync = 'on',
}: { fsync?: 'on' | 'off' } = {}): Promise<PostgresPair> {
  const folder = makePostgresFolder('lead-page-pair-');
  const owner = unprivilegedOwner();
  const native = binaries(folder.path, owner);
  const running = new Map<string, number>();
  const onRun = (name: string, pid: number | undefined) => {
    if (pid === undefined) running.delete(name);
    else running.set(name, pid);
    folder.runs(...running.values());
  };
  const a = await createNode('a', { folder, native, owner, fsync, onRun });
  const b = await createNode('b', { folder, native, owner, fsync, onRun });
  const close = async () => {
    await Promise.all([a.stop('SIGKILL'), b.stop('SIGKILL')]);
    await folder.remove();
  };
  try {
    initialise(folder.path, native, path.join(folder.path, 'a'), owner);
    await a.start();
    await b.copyFrom(a);
    await a.waitForStandby(true);
    await a.untilReplicated();
  } catch (error) {
    await close();
    throw error;
  }
  return { a, b, [Symbol.asyncDispose]: close };
}

async function createNode(
  name: string,
  {
    folder,
    native,
    owner,
    fsync,
    onRun,
  }: {
    folder: PostgresFolder;
    native: string;
    owner: { uid: number; gid: number } | null;
    fsync: 'on' | 'off';
    onRun: (name: string, pid: number | undefined) => void;
  },
): Promise<PostgresNode> {
  const data = path.join(folder.path, name);
  const port = await freePort();
  const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`;
  const parameters = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
    'wal_keep_size=2GB',
    'wal_retrieve_retry_interval=200ms',
    'synchronous_commit=on',
    `fsync=${fsync}`,
  ];
  let stop: Awaited<ReturnType<typeof launchPostgres>> = async () => {};

  const ask = <Row extends object>(sql: string): Promise<readonly Row[]> =>
    onPostgres(url, async (client) => (await client.query<Row>(sql)).rows);
  const start = async (): Promise<void> => {
    stop = await launchPostgres({ folder, native, data, owner, url, parameters }, (...[pid]) =>
      onRun(name, pid),
    );
  };

  const ownFile = (file: string, text: string): void => {
    writeFileSync(path.join(data, file), text);
    if (owner) chownSync(path.join(data, file), owner.uid, owner.gid);
  };

  const becomeStandby = (primary: PostgresNode): void => {
    ownFile('standby.signal', '');
    const from = `host=127.0.0.1 port=${primary.port} user=postgres password=${PASSWORD} application_name=${name}`;
    // A promoted server has no standby, so its commits must not wait for one.
    appendFileSync(
      path.join(data, 'postgresql.auto.conf'),
      `primary_conninfo = '${from}'\nsynchronous_standby_names = ''\n`,
    );
  };

  return {
    name,
    port,
    url,
    ask,
    start,
    stop: (signal) => stop(signal),
    promote: async () => {
      await ask('select pg_promote(true)');
    },
    copyFrom: async (primary) => {
      rmSync(data, { recursive: true, force: true });
      const rows = await onPostgres(primary.url, async (client) => {
        await client.query("select pg_backup_start('copy', true)");
        const options = { cwd: folder.path, ...owner };
        execFileSync('cp', ['-R', '-p', path.join(folder.path, primary.name), data], options);
        return (await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)'))
          .rows;
      });
      for (const file of ['postmaster.pid', 'standby.signal']) rmSync(path.join(data, file), { force: true });
      ownFile('backup_label', rows[0]?.labelfile ?? '');
      becomeStandby(primary);
      await start();
    },
    follow: async (primary) => {
      becomeStandby(primary);
      await start();
    },
    waitForStandby: async (waits) => {
      await ask(`alter system set synchronous_standby_names = '${waits ? '*' : ''}'`);
      await ask('select pg_reload_conf()');
    },
    untilReplicated: () =>
      until(async () => {
        const rows = await ask(
          "select 1 from pg_stat_replication where sync_state = 'sync' and state = 'streaming'",
        );
        return rows.length > 0;
      }),
  };
}
