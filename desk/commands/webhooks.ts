import type { Command } from '@commander-js/extra-typings';

import { jsonText, printList } from '#desk/commands/print.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import { examples, JSON_OPTION } from '#desk/commands/help.ts';
import { changeAndLog, cliActor } from '#desk/audit-log/audit-log.ts';
import { formatMinute } from '#desk/shown-time.ts';
import { shownEvents } from '#desk/webhooks/events.ts';
import { counted } from '#desk/printable.ts';
import { countEvents, reviveEvents } from '#server/db/tables/webhook-events.ts';

export function addWebhooks(program: Command, desk: Desk): void {
  const webhooks = program
    .command('webhooks')
    .description('test, list and retry webhooks')
    .addHelpText('after', examples('webhooks test'));
  addList(webhooks, desk);
  addRetry(webhooks, desk);
  addTest(webhooks, desk);
  addSecret(webhooks, desk);
}

function addList(webhooks: Command, desk: Desk): void {
  webhooks
    .command('list')
    .description('list queued and dead events')
    .option(...JSON_OPTION)
    .action(async ({ json }) => {
      const service = await desk.service();
      const { timeZone } = service.config;
      const { events, ...counts } = await shownEvents(service);
      if (json) await desk.print(jsonText({ ...counts, events }));
      else
        await printList(desk, [events], {
          columns: [
            ['created', 16, (event) => formatMinute(event.created_at, timeZone)],
            ['event', 17, ({ type }) => type],
            ['state', 6, ({ state }) => state],
            ['attempts', 8, ({ attempts }) => String(attempts)],
            ['next attempt', 16, ({ due_at: due }) => (due === null ? '' : formatMinute(due, timeZone))],
            ['to', 28, ({ to }) => to],
            ['response', 24, ({ response }) => response ?? ''],
            ['id', 0, ({ id }) => id],
          ],
        });
      desk.note(`${counts.queued} waiting, ${counts.dead} dead.`);
    });
}

function addRetry(webhooks: Command, desk: Desk): void {
  webhooks
    .command('retry')
    .description('retry dead events for another 24 hours')
    .argument('[ids...]', 'IDs from "webhooks list"')
    .option('--all', 'all dead events')
    .addHelpText('after', examples('webhooks retry --all'))
    .action(async (named, { all }) => {
      const ids = [...new Set(named)];
      if (ids.length > 0 === (all === true))
        throw new CommandFailure('Name IDs from "webhooks list", or use --all.', 2);
      const service = await desk.service();
      const revived = await changeAndLog(service, cliActor(), async (tx, log) => {
        const { endpoints } = service.webhooks;
        const count = await reviveEvents(tx, { ids: all ? null : ids, endpoints, now: service.clock() });
        if (count > 0) await log('retried-webhooks', null, 'webhooks retry');
        return count;
      });
      const unknown = ids.length - revived;
      if (unknown > 0)
        desk.note(
          `${unknown} of these IDs ${unknown === 1 ? 'is not of a dead event' : 'are not of dead events'} to a URL in WEBHOOK_URLS.`,
        );
      desk.note(`${counted(revived, 'event')} will be retried.`);
      const { dead } = await countEvents(service.database.db);
      if (all && dead > 0)
        desk.note(
          `${counted(dead, 'dead event is to a URL', 'dead events are to URLs')} that WEBHOOK_URLS no longer contains. To pass on these leads, use export --since.`,
        );
      if (revived === 0 && !all) throw new CommandFailure('Nothing will be retried.');
    });
}

function addTest(webhooks: Command, desk: Desk): void {
  webhooks
    .command('test')
    .description('send an invented lead to every URL in WEBHOOK_URLS and print the responses')
    .option(...JSON_OPTION)
    .action(async ({ json }) => {
      const { webhooks: parts } = await desk.service();
      if (parts.endpoints.length === 0)
        throw new CommandFailure(
          'WEBHOOK_URLS is not set. Set it to the URLs that should receive events, and try again.',
        );
      const results = await parts.sendTest(desk.signal);
      if (json) await desk.print(jsonText(results));
      else
        for (const { to, ok, response } of results)
          await desk.print(`${ok ? 'sent' : 'not sent'}  ${to}  ${response}\n`);
      if (results.some(({ ok }) => !ok))
        throw new CommandFailure(
          'Not every receiver accepted the event. See "What if a delivery fails?" in docs/webhooks.md, fix the receiver or WEBHOOK_URLS, and try again.',
        );
    });
}

function addSecret(webhooks: Command, desk: Desk): void {
  webhooks
    .command('secret')
    .description('print the secrets that sign events, newest first')
    .action(async () => {
      const { webhooks: parts } = await desk.service();
      await desk.print(parts.secrets.map((secret) => `${secret}\n`).join(''));
    });
}
