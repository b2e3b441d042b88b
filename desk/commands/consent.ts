import type { Command } from '@commander-js/extra-typings';

import { CommandFailure } from '#desk/command-failure.ts';
import { jsonText } from '#desk/commands/print.ts';
import type { Desk } from '#desk/commands/command.ts';
import { examples, JSON_OPTION } from '#desk/commands/help.ts';
import { writeJsonAndPage } from '#desk/commands/output-file.ts';
import {
  checkChain,
  consentProofs,
  describeChainError,
  sealAll,
  type ChainProgress,
} from '#desk/people/consent-proofs.ts';
import { readEmail } from '#desk/people/held-data.ts';
import { logCommand } from '#desk/audit-log/audit-log.ts';
import { counted } from '#desk/printable.ts';
import { acceptErrors, chainHead, isChainSigned, type ChainHead } from '#server/consent/chain.ts';
import { isoTime } from '#server/platform/time.ts';

export function addConsent(program: Command, desk: Desk): void {
  const consent = program
    .command('consent')
    .description('check and export proofs of consent')
    .addHelpText('after', examples('consent verify'));
  addVerify(consent, desk);
  addExport(consent, desk);
  addAnchor(consent, desk);
  addAccept(consent, desk);
}

const ERRORS_SHOWN = 100;

const ADVICE =
  'Something other than this site changed the database. Keep it unchanged, and compare it with an older backup. ' +
  'Once you know what happened, accept the errors with "consent accept".';

function addVerify(consent: Command, desk: Desk): void {
  consent
    .command('verify')
    .description('check the whole chain')
    .option('--anchor <head>', 'an earlier head, as printed by "consent anchor", that must be in the chain')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('consent verify --anchor 1042:9f2c…'))
    .action(async ({ anchor, json }) => {
      const wanted = anchor === undefined ? undefined : readAnchor(anchor);
      const report = await checkChain(await desk.service(), progressOf(desk), { anchor: wanted });
      const { entries, erased, head, errorCount, errors, accepted } = report;
      if (json) await desk.print(jsonText(report));
      else {
        await desk.print(
          `${counted(entries, 'entry', 'entries')}, including ${erased} of erased people. Head: ${head.position}:${head.hash}\n`,
        );
        for (const error of accepted) await desk.print(`Accepted: ${describeChainError(error)}\n`);
        for (const error of errors) await desk.print(`${describeChainError(error)}\n`);
        if (errorCount > errors.length) await desk.print(`${errorCount} errors in total.\n`);
      }
      if (errorCount > 0) throw new CommandFailure(ADVICE);
    });
}

function addExport(consent: Command, desk: Desk): void {
  consent
    .command('export')
    .description('write one person’s proofs of consent as JSON and as a printable page')
    .argument('<email>')
    .requiredOption('--out <file>', 'writes <file>.json and <file>.html')
    .addHelpText('after', examples('consent export ada@example.com --out consent-ada'))
    .action(async (typed, { out }) => {
      const email = readEmail(typed);
      const service = await desk.service();
      const { document, page, isValid } = await consentProofs(service, email, progressOf(desk));
      const files = await writeJsonAndPage(out, {
        document,
        page,
        onBegin: () => logCommand(service, 'exported', email, 'consent export'),
      });
      if (!isValid)
        throw new CommandFailure(
          `${files} do not prove the consent of ${email}, and list the errors. ${ADVICE}`,
        );
      desk.note(`${files} prove the consent of ${email}.`);
    });
}

function addAnchor(consent: Command, desk: Desk): void {
  consent
    .command('anchor')
    .description('print the head of the chain, to be stored elsewhere')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('consent anchor | mail -s "Consent chain today" legal@example.com'))
    .action(async ({ json }) => {
      const service = await desk.service();
      await sealAll(service, progressOf(desk));
      const { database, secrets, clock } = service;
      const head = await chainHead(database.db);
      if (!(await isChainSigned(database.db, secrets)))
        desk.note(
          'This head is not signed. Run "consent verify" to see where the unsigned part begins and what to do.',
        );
      const at = isoTime(clock());
      await desk.print(json ? jsonText({ ...head, at }) : `${head.position}:${head.hash} ${at}\n`);
    });
}

function addAccept(consent: Command, desk: Desk): void {
  consent
    .command('accept')
    .description('after an incident, record the errors in the chain as accepted and sign it again')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', examples('consent accept'))
    .action(async ({ yes }) => {
      const service = await desk.service();
      const { database, secrets, clock } = service;
      const { errors } = await checkChain(service, progressOf(desk), { maxErrors: Infinity });
      if (errors.length === 0) {
        desk.note('There is nothing to accept, because the chain has no errors.');
        return;
      }
      for (const error of errors.slice(0, ERRORS_SHOWN)) desk.note(describeChainError(error));
      const what = errors.length === 1 ? 'this error' : `these ${errors.length} errors`;
      const agreed =
        yes === true ||
        (await desk.confirm(`Accept ${what} and sign the chain in its current state? (y/N) `));
      if (!agreed) throw new CommandFailure('Nothing was accepted. Answer "y" when asked, or use --yes.');
      await acceptErrors(database.db, { errors, secrets, now: clock() });
      desk.note(
        `Accepted ${what}. From now on, "consent verify" lists accepted errors separately and only fails for new errors.`,
      );
    });
}

const progressOf = (desk: Desk): ChainProgress => ({
  signal: desk.signal,
  onSealed: (count) => desk.progress(`${count} proofs added to the chain …`),
  onChecked: (count) => desk.progress(`${count} entries checked …`),
});

function readAnchor(text: string): ChainHead {
  const [, position, hash] = /^(\d{1,15}):([0-9a-f]{64})\b/.exec(text.trim()) ?? [];
  if (position === undefined || hash === undefined)
    throw new CommandFailure(
      'The anchor is invalid. Use the output of "consent anchor": a number, a colon and 64 digits.',
      2,
    );
  return { position: Number(position), hash };
}
