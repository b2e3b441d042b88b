// What `npm start` looks at before it builds the site: settings, words and ports. A build takes seconds, and a second start
// has no business with the files of the first.
import { readCampaign } from '#server/campaign.ts';
import { readCampaignFolder, readSettings } from '#server/settings.ts';
import { portComplaints, refuseStart } from '#server/start-failures.ts';

const settings = readSettings();
const words = readCampaign(readCampaignFolder());
const complaints = [
  ...(settings.type === 'complaints' ? settings.complaints : await portComplaints(settings.config)),
  ...(words.type === 'complaints' ? words.complaints : []),
];
if (complaints.length > 0) refuseStart(complaints);
