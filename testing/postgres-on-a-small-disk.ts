import { statSync } from 'node:fs';
import { randomBytes } from 'node:crypto';

import { onPostgres } from '#testing/postgres-server.ts';
import { withSmallDisk } from '#testing/small-disk.ts';

export async function withTableOnSmallDisk(
  url: string,
  table: string,
  act: (disk: string) => Promise<void>,
): Promise<void> {
  const folder = await onPostgres(url, async (client) => {
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    return rows[0]?.data_directory ?? '';
  });
  const { uid, gid } = statSync(folder);
  await withSmallDisk({ size: '2m', uid, gid }, async (disk) => {
    const space = `small_${randomBytes(6).toString('hex')}`;
    await onPostgres(url, async (client) => {
      await client.query(`create tablespace ${space} location '${disk}'`);
      await client.query(`alter table ${table} set tablespace ${space}`);
    });
    try {
      await act(disk);
    } finally {
      await onPostgres(url, async (client) => {
        await client.query(`alter table ${table} set tablespace pg_default`);
        await client.query(`drop tablespace ${space}`);
      });
    }
  });
}
