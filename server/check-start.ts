// What `npm start` looks at before it builds the site: settings, words and ports. A build takes seconds, and a second start
// has no business with the files of the first.
import path from 'node:path';

import { pageComplaints } from '#server/campaign.ts';
import { readInstance } from '#server/service.ts';
import { portComplaints, sayRefusal } from '#server/start-failures.ts';

const instance = readInstance();
const complaints = [
  ...(instance.type === 'complaints' ? instance.complaints : await portComplaints(instance.config)),
  ...pageComplaints(path.resolve(import.meta.dirname, '..', 'campaign')),
];
if (complaints.length > 0) {
  process.stderr.write(sayRefusal(complaints));
  process.exit(1);
}
