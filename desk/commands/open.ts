import { once } from 'node:events';
import { createServer } from 'node:net';
import path from 'node:path';

import type { Command } from '@commander-js/extra-typings';

import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import { examples } from '#desk/commands/help.ts';
import { createLink } from '#desk/server/auth/link.ts';
import { findRelease } from '#server/http/releases.ts';
import { errorCode } from '#server/platform/system-errors.ts';
import { PROJECT_FOLDER } from '#server/platform/files.ts';
import { readCampaignFolder } from '#server/settings/env-file.ts';

const HOST = '127.0.0.1';

export function addOpen(program: Command, desk: Desk): void {
  program
    .command('open')
    .description('run the desk for a browser on this machine until you press Ctrl-C')
    .option('--port <port>', 'default: a free port', (text) => {
      if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > 65_535)
        throw new CommandFailure('The port must be a number from 1 to 65535, such as --port 4000.', 2);
      return Number(text);
    })
    .addHelpText('after', examples('open --port 4000'))
    .action(async ({ port: wanted }) => {
      // Loaded here, because other commands don't need HTTP.
      const { buildDeskApp } = await import('#desk/server/desk-app.ts');
      const service = await desk.service();
      const release = findRelease(PROJECT_FOLDER, readCampaignFolder());
      if (release.type === 'unusable') throw new CommandFailure(release.mistake);
      const port = await freePort(wanted ?? 0);
      const url = `http://${HOST}:${port}`;
      const link = createLink(service.clock());
      let isStopping = false;
      const app = await buildDeskApp(service, {
        access: { kind: 'link', url, link },
        files: path.join(release.release.folder, 'desk'),
        dnsServers: desk.dnsServers,
        isStopping: () => isStopping,
      });
      try {
        await app.listen({ host: HOST, port });
        await desk.print(`${url}/enter#${link.token}\n`);
        desk.note(
          'This link works once, within ten minutes. Press Ctrl-C to stop the desk and end its sessions.',
        );
        if (process.env['SSH_CONNECTION'] !== undefined)
          desk.note(
            `If your browser runs on another machine, first run this command there:  ssh -L ${port}:${HOST}:${port} USER@SERVER`,
          );
        if (!desk.signal.aborted) await once(desk.signal, 'abort');
      } finally {
        isStopping = true;
        app.server.closeAllConnections();
        await app.close();
      }
    });
}

async function freePort(wanted: number): Promise<number> {
  const probe = createServer();
  try {
    probe.listen({ host: HOST, port: wanted, exclusive: true });
    await once(probe, 'listening');
    return Object.assign({ port: wanted }, probe.address()).port;
  } catch (error) {
    throw new CommandFailure(
      `Port ${wanted} cannot be used (${errorCode(error)}). Choose another port with --port, or leave out --port.`,
    );
  } finally {
    probe.close();
  }
}
