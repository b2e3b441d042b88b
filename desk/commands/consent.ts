// desk consent: proves that a person agreed, and that the proof was not changed.
import type { Command } from '@commander-js/extra-typings';

import { isoTime } from '#server/platform/time.ts';
import { chainSignerOf } from '#server/secrets/secrets.ts';
import { jsonText } from '#desk/commands/answer.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import { writeJsonAndPage } from '#desk/commands/output-file.ts';
import { nothingHeld, readAddress } from '#desk/commands/held-data.ts';
import { sealConsents } from '#server/upkeep/consent-sealer.ts';
import {
  acceptFaults,
  chainHead,
  isChainSigned,
  type AcceptedFault,
} from '#server/db/tables/consent-chain.ts';
import { checkedProofsOf, verifyChain } from '#server/db/across/consent-check.ts';
import type { ChainFault } from '#server/db/across/consent-entries.ts';
import { consentPage } from '#desk/people/consent-page.ts';
import type { Service } from '#server/run/service.ts';

export function addConsent(program: Command, desk: Desk): void {
  const consent = program
    .command('consent')
    .description('prove who agreed to what, and when')
    .addHelpText('after', '\nExample:\n  $ npm run -s desk -- consent verify');
  addVerify(consent, desk);
  addExport(consent, desk);
  addAnchor(consent, desk);
  addAccept(consent, desk);
}

const FAULTS: Readonly<Record<ChainFault['kind'], string>> = {
  start: 'it stands before the beginning of the chain',
  gap: 'entries before it are missing',
  link: 'it does not follow the entry before it',
  content: 'its content was changed',
  foreign: 'its content is nothing that this page seals',
  receipt: 'it was sealed for another receipt',
  emptied: 'its content is gone, though the person was not erased',
  returned: 'the person was erased, and its content is there again',
  missing: 'its receipt or withdrawal is gone, though the person was not erased',
  differs: 'its receipt or withdrawal was changed',
  unsealed: 'it is in no entry',
  unsigned: 'from here on, no signature covers the chain',
  cut: 'it was the newest one, signed by this page, and is gone or another now',
  signature: 'it is the newest one, and none of the secrets of APP_SECRET signed it',
  anchor: 'it is not the entry that was anchored',
};
const ADVICE =
  'Compare with a backup from before, and keep this database as it is: it was changed by another way than this page. After an upgrade ' +
  'from a release that did not sign, or once you know what happened, "consent accept" takes it as it is.';

/** One sentence about a fault. */
function sayChainFault({
  position,
  kind,
  fields,
  id = '',
}: AcceptedFault & Pick<ChainFault, 'fields'>): string {
  // An acceptance that a later release wrote may name other kinds.
  const what = (FAULTS as Readonly<Record<string, string>>)[kind] ?? kind;
  const where = position === null ? `Receipt or withdrawal ${id}` : `Entry ${position}`;
  return `${where}: ${what}${fields === undefined ? '' : ` (${fields.join(', ')})`}.`;
}

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
      const service = await sealed(desk);
      const report = await verifyChain(service.database.db, {
        ...checking(desk, service),
        anchor: wanted,
      });
      const { entries, erased, head, faultCount, faults, accepted } = report;
      if (json) await desk.print(jsonText(report));
      else {
        await desk.print(
          `${entries} ${entries === 1 ? 'entry' : 'entries'}, ${erased} of people who were erased. Head: ${head.position}:${head.hash}\n`,
        );
        for (const fault of accepted) await desk.print(`Accepted: ${sayChainFault(fault)}\n`);
        for (const fault of faults) await desk.print(`${sayChainFault(fault)}\n`);
        if (faultCount > faults.length) await desk.print(`${faultCount} faults in all.\n`);
      }
      if (faultCount > 0) throw new CommandFailure(ADVICE);
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
      const service = await sealed(desk);
      const { database, campaign, clock } = service;
      const checked = await checkedProofsOf(database.db, email, checking(desk, service));
      const { consents: proofs, withdrawals, removals, faults: found } = checked;
      if (proofs.length + withdrawals.length + removals.length + found.length === 0) throw nothingHeld(email);
      const faults = found.map((fault) => `${fault.isAccepted ? 'Accepted: ' : ''}${sayChainFault(fault)}`);
      const document = { email, faults, proofs, withdrawals, removals };
      const page = consentPage({ ...document, title: campaign.site.title, writtenAt: new Date(clock()) });
      const files = await writeJsonAndPage(out, document, page);
      if (found.some(({ isAccepted }) => !isAccepted))
        throw new CommandFailure(`${files} do not prove the consent of ${email}: they say why. ${ADVICE}`);
      desk.note(`${files} prove the consent of ${email}.`);
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
      const { database, secrets, clock } = await sealed(desk);
      const head = await chainHead(database.db);
      if (!(await isChainSigned(database.db, chainSignerOf(secrets))))
        desk.note(
          'This head is not signed. Run "consent verify": it says from which entry on, and what to do.',
        );
      const at = isoTime(clock());
      await desk.print(json ? jsonText({ ...head, at }) : `${head.position}:${head.hash} ${at}\n`);
    });
}

function addAccept(consent: Command, desk: Desk): void {
  consent
    .command('accept')
    .description('take the chain as it is: after an upgrade from a release that did not sign, or an incident')
    .option('--yes', 'do not ask first')
    .addHelpText('after', '\nExample:\n  $ npm run -s desk -- consent accept')
    .action(async ({ yes }) => {
      const service = await sealed(desk);
      const { database, secrets, clock } = service;
      const faults: AcceptedFault[] = [];
      await verifyChain(database.db, {
        ...checking(desk, service),
        onFault: ({ position, kind, state, id }, isAccepted) => {
          if (!isAccepted) faults.push({ position, kind, state, ...(id && { id }) });
        },
      });
      if (faults.length === 0) {
        desk.note('There is nothing to accept: the chain verifies.');
        return;
      }
      for (const fault of faults.slice(0, FAULTS_SHOWN)) await desk.print(`${sayChainFault(fault)}\n`);
      const what = faults.length === 1 ? 'this fault' : `these ${faults.length} faults`;
      const agreed =
        yes === true || (await desk.confirm(`Accept ${what}, and sign the chain as it is? (y/N) `));
      if (!agreed)
        throw new CommandFailure('Nothing was accepted. Say "y" when you are asked, or call it with --yes.');
      await acceptFaults(database, { faults, signer: chainSignerOf(secrets), now: clock() });
      desk.note(`Accepted ${what}. "consent verify" lists them apart, and fails for new ones alone.`);
    });
}

const FAULTS_SHOWN = 100;

/** The options of a check of the whole chain. */
const checking = (desk: Desk, { secrets, clock }: Pick<Service, 'secrets' | 'clock'>) => ({
  signer: chainSignerOf(secrets),
  now: clock(),
  onChecked: (checked: number) => {
    desk.signal.throwIfAborted();
    desk.progress(`${checked} entries checked …`);
  },
});

/** Opens the service, and seals what can be sealed. */
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
