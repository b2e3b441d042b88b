// What `npm start` looks at before it builds the site: settings, words and ports. A build takes seconds, and a second start
// has no business with the files of the first.
import { pageComplaints } from '#server/campaign.ts';
import { readInstance } from '#server/service.ts';
import { readCampaignFolder } from '#server/settings.ts';
import { portComplaints, sayRefusal } from '#server/start-failures.ts';

/** Looks, says what is to be mended, and ends the process. */
export async function checkStart(): Promise<never> {
  const instance = readInstance();
  const complaints = [
    ...(instance.type === 'complaints' ? instance.complaints : await portComplaints(instance.config)),
    ...pageComplaints(readCampaignFolder()),
  ];
  if (complaints.length > 0) process.stderr.write(sayRefusal(complaints));
  process.exit(complaints.length > 0 ? 1 : 0);
}
