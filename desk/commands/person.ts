import type { Command } from '@commander-js/extra-typings';

import type { Desk } from '#desk/commands/command.ts';
import { examples } from '#desk/commands/help.ts';
import { writeJsonAndPage } from '#desk/commands/output-file.ts';
import { requirePersonalData, readAddress } from '#desk/people/held-data.ts';
import { personPage } from '#desk/people/person-page.ts';
import { noteCommand } from '#desk/audit-log/audit-log.ts';
import { timelineOf } from '#desk/people/timeline.ts';
import { isoTime } from '#server/platform/time.ts';

export function addPerson(program: Command, desk: Desk): void {
  program
    .command('person')
    .description('write everything stored about one person as JSON and as a printable page')
    .argument('<email>')
    .requiredOption('--out <file>', 'writes <file>.json and <file>.html')
    .addHelpText('after', examples('person ada@example.com --out ada'))
    .action(async (typed, { out }) => {
      const email = readAddress(typed);
      const service = await desk.service();
      const { database, campaign, clock } = service;
      const data = await requirePersonalData(database.db, email);
      const story = timelineOf(data);
      const writtenAt = isoTime(clock());
      const files = await writeJsonAndPage(out, {
        document: { email, writtenAt, story, ...data },
        page: personPage({ email, data, story, site: campaign.site, writtenAt }),
        onBegin: () => noteCommand(service, 'exported', email, 'person'),
      });
      desk.note(`${files} contain all data stored about ${email}.`);
    });
}
