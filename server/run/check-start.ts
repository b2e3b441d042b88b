// Checks settings, words and ports before `npm start` builds the site: a build takes seconds, and a second start must not touch the
// files of the first.
import { pageComplaints } from '#server/campaign/campaign.ts';
import { readInstance } from '#server/run/service.ts';
import { readCampaignFolder } from '#server/settings/env-file.ts';
import { inheritedSocket } from '#server/run/inherited-socket.ts';
import { readRunning, runningFile } from '#server/restart/running-page.js';
import { portComplaints, sayRefusal } from '#server/run/why-the-start-failed.ts';
import { loadWebhookSender } from '#server/webhooks/webhooks.ts';

const NOT_RUNNING = `No page that "npm start" began is running (${runningFile()} knows of none). Use "npm start".`;

/**
 * Checks them, prints what has to be mended, and ends the process.
 * @param options beside: for `npm run restart`, which needs a page that runs
 */
export async function checkStart({ beside }: { readonly beside: boolean }): Promise<never> {
  const instance = readInstance();
  const ports = { mayRun: beside, socket: inheritedSocket() };
  const complaints = [
    ...(beside && readRunning(runningFile()) === null ? [NOT_RUNNING] : []),
    ...(instance.type === 'complaints' ? instance.complaints : await portComplaints(instance.config, ports)),
    ...pageComplaints(readCampaignFolder()),
  ];
  if (complaints.length > 0) process.stderr.write(sayRefusal(complaints));
  // So that it is kept compiled (start.js), like every other file, which main.ts has loaded by now.
  else if (instance.type === 'instance') await loadWebhookSender(instance.config);
  process.exit(complaints.length > 0 ? 1 : 0);
}
