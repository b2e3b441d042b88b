// desk consent: proof that somebody agreed, and that nobody has touched the proof.
import type { Command } from '@commander-js/extra-typings';

import { CommandFailure, type Desk } from '#server/commands/desk.ts';
import { writeWhole } from '#server/commands/output-file.ts';
import { nothingHeld, readAddress } from '#server/commands/person-data.ts';
import { sealConsents } from '#server/consent-sealer.ts';
import { chainHead, proofsOf, verifyChain, type ChainFault } from '#server/db/consent-chain.ts';
import { consentPage } from '#server/people/consent-page.ts';

export function addConsent(program: Command, desk: Desk): void {
  const consent = program
    .command('consent')
    .description('prove who agreed to what, and when')
    .addHelpText('after', '\nExample:\n  $ npm run -s desk -- consent verify');
  addVerify(consent, desk);
  addExport(consent, desk);
  addAnchor(consent, desk);
}

const FAULTS: Readonly<Record<ChainFault['kind'], string>> = {
  gap: 'entries before it are missing',
  link: 'it does not follow the entry before it',
  content: 'its content was changed',
  emptied: 'its content is gone, though the person was not erased',
  anchor: 'it is not the entry that was anchored',
};
const ADVICE =
  'Compare with a backup from before, and keep this database as it is: somebody has changed it by another way than this page.';

function addVerify(consent: Command, desk: Desk): void {
  consent
    .command('verify')
    .description('check the whole chain of proofs')
    .option(
      '--anchor <head>',
      'a head that "consent anchor" printed at another time: it has to be in the chain',
    )
    .option('--json', 'one JSON document')
    .addHelpText('after', '\nExample:\n  $ npm run -s desk -- consent verify --anchor 1042:9f2c…')
    .action(async ({ anchor, json }) => {
      const wanted = anchor === undefined ? undefined : readAnchor(anchor);
      const { database } = await sealed(desk);
      const report = await verifyChain(database.db, wanted, (checked) => {
        desk.signal.throwIfAborted();
        desk.progress(`${checked} proofs checked …`);
      });
      const { entries, erased, head, faults } = report;
      if (json) await desk.print(`${JSON.stringify(report, null, 2)}\n`);
      else {
        await desk.print(
          `${entries} ${entries === 1 ? 'proof' : 'proofs'}, ${erased} of people who were erased. Head: ${head.position}:${head.hash}\n`,
        );
        for (const { position, kind } of faults) await desk.print(`Entry ${position}: ${FAULTS[kind]}.\n`);
      }
      if (faults.length > 0) throw new CommandFailure(ADVICE);
    });
}

function addExport(consent: Command, desk: Desk): void {
  consent
    .command('export')
    .description('write the proofs of one address, as JSON and as a page to print')
    .argument('<email>')
    .requiredOption('--out <file>', 'writes <file>.json and <file>.html')
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run -s desk -- consent export ada@example.com --out consent-ada',
    )
    .action(async (typed, { out }) => {
      const email = readAddress(typed);
      const { database, campaign, clock } = await sealed(desk);
      const { consents: proofs, withdrawals } = await proofsOf(database.db, email);
      if (proofs.length === 0) throw nothingHeld(email);
      const base = out.replace(/\.(json|html)$/, '');
      const document = { email, proofs, withdrawals };
      await writeWhole(`${base}.json`, (append) => append(`${JSON.stringify(document, null, 2)}\n`));
      await writeWhole(`${base}.html`, (append) =>
        append(consentPage({ ...document, title: campaign.site.title, writtenAt: new Date(clock()) })),
      );
      desk.note(`${base}.json and ${base}.html prove the consent of ${email}.`);
    });
}

function addAnchor(consent: Command, desk: Desk): void {
  consent
    .command('anchor')
    .description('print the head of the chain, to be kept where nobody can change it')
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run -s desk -- consent anchor | mail -s "Consent chain of today" legal@example.com',
    )
    .action(async ({ json }) => {
      const { database, clock } = await sealed(desk);
      const head = await chainHead(database.db);
      const at = new Date(clock()).toISOString();
      await desk.print(
        json ? `${JSON.stringify({ ...head, at }, null, 2)}\n` : `${head.position}:${head.hash} ${at}\n`,
      );
    });
}

/** The service, once what can be sealed is sealed. */
async function sealed(desk: Desk) {
  const service = await desk.service();
  await sealConsents(service, {
    whole: true,
    shouldStop: () => desk.signal.aborted,
    onSealed: (count) => desk.progress(`${count} proofs put into the chain …`),
  });
  return service;
}

function readAnchor(text: string): { position: number; hash: string } {
  const [, position, hash] = /^(\d{1,15}):([0-9a-f]{64})\b/.exec(text.trim()) ?? [];
  if (position === undefined || hash === undefined)
    throw new CommandFailure(
      'An anchor is what "consent anchor" prints: a number, a colon and 64 digits.',
      2,
    );
  return { position: Number(position), hash };
}
