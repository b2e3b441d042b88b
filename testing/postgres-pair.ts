import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import {
  createNode,
  initialise,
  installPostgres,
  onPostgres,
  PASSWORD,
  type PostgresInstallation,
  type PostgresNode,
} from '#testing/postgres-server.ts';
import { until } from '#testing/until.ts';

type Replica = PostgresNode & {
  readonly name: string;
  readonly promote: () => Promise<void>;
  readonly copyFrom: (primary: Replica) => Promise<void>;
  /** Restarts as a standby with its own data, after a clean stop. */
  readonly follow: (primary: Replica) => Promise<void>;
  readonly waitForStandby: (waits: boolean) => Promise<void>;
  /** Resolves when a standby has caught up and commits wait for it. */
  readonly untilReplicated: () => Promise<void>;
  readonly ask: <Row extends object>(sql: string) => Promise<readonly Row[]>;
};

export type PostgresPair = {
  readonly a: Replica;
  readonly b: Replica;
} & AsyncDisposable;

/**
 * Starts both; commits at the primary wait for the standby.
 * @param fsync may be false if only processes are killed, never the machine
 */
export async function startPostgresPair(fsync: 'on' | 'off' = 'on'): Promise<PostgresPair> {
  const installation = installPostgres('lead-page-pair-');
  const a = await createReplica(installation, 'a', fsync);
  const b = await createReplica(installation, 'b', fsync);
  const close = async () => {
    await Promise.all([a.stop('SIGKILL'), b.stop('SIGKILL')]);
    await installation.folder.remove();
  };
  try {
    initialise(installation, a.data);
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

async function createReplica(
  installation: PostgresInstallation,
  name: string,
  fsync: 'on' | 'off',
): Promise<Replica> {
  const { folder, owner } = installation;
  const node = await createNode(installation, name, [
    'max_connections=200',
    'wal_keep_size=2GB',
    'wal_retrieve_retry_interval=200ms',
    'synchronous_commit=on',
    `fsync=${fsync}`,
  ]);
  const { data, url, start } = node;
  const ask = <Row extends object>(sql: string): Promise<readonly Row[]> =>
    onPostgres(url, async (client) => (await client.query<Row>(sql)).rows);

  const ownFile = (file: string, text: string): void => {
    writeFileSync(path.join(data, file), text);
    if (owner) chownSync(path.join(data, file), owner.uid, owner.gid);
  };

  const becomeStandby = (primary: Replica): void => {
    ownFile('standby.signal', '');
    const from = `host=127.0.0.1 port=${primary.port} user=postgres password=${PASSWORD} application_name=${name}`;
    // A promoted server has no standby, so its commits must not wait for one.
    appendFileSync(
      path.join(data, 'postgresql.auto.conf'),
      `primary_conninfo = '${from}'\nsynchronous_standby_names = ''\n`,
    );
  };

  return {
    ...node,
    name,
    ask,
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
