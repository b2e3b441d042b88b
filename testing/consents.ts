import { readFileSync } from 'node:fs';
import path from 'node:path';

import type { ChainError } from '#server/consent/chain.ts';
import type { ChainReport } from '#server/consent/check.ts';
import type { Service } from '#server/startup/service.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { desk } from '#testing/desk.ts';
import { inFolder } from '#testing/folder.ts';
import type { ServerUnderTest } from '#testing/server-under-test.ts';

/**
 * Takes 21 seconds on the test clock.
 * @param mail number of the code's mail to this address, from 1
 */
export async function agree(server: ServerUnderTest, email: string, mail = 1): Promise<void> {
  const headers = { 'x-consent-version': server.campaign.consent.version, 'user-agent': 'Browser/7' };
  await becomeLead(server, email, mail, { headers, beforeCode: () => server.advance(20) });
  await server.advance(1);
}

/** Returns each receipt with its wording and its form, in the order of the consents. */
export const receiptsOf = ({ database: { db } }: ServerUnderTest) =>
  db
    .selectFrom('consent_receipts as receipt')
    .innerJoin('consent_wordings as wording', 'wording.version', 'receipt.consent_version')
    .innerJoin('submissions as form', 'form.id', 'receipt.submission_id')
    .selectAll('receipt')
    .select(['wording.version', 'wording.text', 'form.name', 'form.given_at as form_given_at'])
    .orderBy('receipt.id')
    .execute();

export async function verifyReport({ service }: { readonly service: Service }, ...args: readonly string[]) {
  const { exitCode, out, notes } = await desk(service, ['consent', 'verify', '--json', ...args]);
  const { errors, accepted, ...rest } = JSON.parse(out) as ChainReport;
  return { exitCode, notes, ...rest, errors: errors.map(errorText), accepted: accepted.map(errorText) };
}

/** Exports the proof of a person's consents with the command of the desk, and reads both files. */
export const exportProof = ({ service }: { readonly service: Service }, email: string) =>
  inFolder(async (folder) => {
    const file = path.join(folder, 'proof');
    const { exitCode, notes } = await desk(service, ['consent', 'export', email, '--out', file]);
    const { errors, entries } = JSON.parse(readFileSync(`${file}.json`, 'utf8')) as Proof;
    return { exitCode, notes, errors, entries, page: readFileSync(`${file}.html`, 'utf8') };
  });

type Proof = {
  readonly errors: readonly string[];
  readonly entries: readonly {
    readonly position: number;
    readonly kind: string;
    readonly row_id: string;
    readonly content: Readonly<Record<string, unknown>>;
  }[];
};

export const errorText = ({ position, expected, found }: ChainError): string =>
  `${position}: ${expected} | ${found}`;
