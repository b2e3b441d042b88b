// What `npm start` looks at before it builds the site: settings, words and ports. A build takes seconds, and a second start
// has no business with the files of the first.
import path from 'node:path';

import { pageComplaints, readCampaign } from '#server/campaign.ts';
import { readSettings } from '#server/settings.ts';
import { portComplaints, refuseStart } from '#server/start-failures.ts';

const settings = readSettings();
const folder = path.resolve(import.meta.dirname, '..', 'campaign');
const words = readCampaign(folder);
const complaints = [
  ...(settings.type === 'complaints' ? settings.complaints : await portComplaints(settings.config)),
  ...(words.type === 'complaints' ? words.complaints : []),
  ...pageComplaints(folder),
];
if (complaints.length > 0) refuseStart(complaints);
