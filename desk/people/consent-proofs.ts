import { CommandFailure } from '#desk/command-failure.ts';
import { personalDataOf } from '#desk/people/held-data.ts';
import { paperPage } from '#desk/people/paper-page.ts';
import { secondOf } from '#desk/shown-time.ts';
import type { ChainEntry, ChainError, Contents, RowKind } from '#server/consent/chain.ts';
import { verifyChain, type ChainReport, type CheckOptions } from '#server/consent/check.ts';
import { sealConsents } from '#server/consent/sealer.ts';
import { escapeHtml } from '#server/platform/text.ts';
import { isoTime } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';
import { answerText, readAnswers } from '#shared/own-fields.ts';

/** Checking the whole chain takes seconds per 100,000 consents. */
export type Watching = {
  readonly signal: AbortSignal;
  readonly onSealed: (count: number) => void;
  readonly onChecked: (count: number) => void;
};

export const sealAll = (
  service: Service,
  { signal, onSealed = () => {} }: Pick<Watching, 'signal'> & Partial<Watching>,
): Promise<unknown> => sealConsents(service, { shouldStop: () => signal.aborted, onSealed });

export async function checkChain(
  service: Service,
  { signal, onSealed, onChecked }: Watching,
  options: CheckOptions,
): Promise<ChainReport> {
  await sealAll(service, { signal, onSealed });
  return verifyChain(service.database.db, {
    ...options,
    secrets: service.secrets,
    now: service.clock(),
    onChecked: (checked) => {
      signal.throwIfAborted();
      onChecked(checked);
    },
  });
}

type ProvedEntry = Pick<ChainEntry, 'position' | 'row_id' | 'salt' | 'content_hash' | 'previous' | 'hash'> &
  { readonly [Kind in RowKind]: { readonly kind: Kind; readonly content: Contents[Kind] } }[RowKind];

type ProofDocument = {
  readonly email: string;
  readonly errors: readonly string[];
  readonly entries: readonly ProvedEntry[];
};

const MOST_ERRORS = 100;

/**
 * Checks the whole chain, because its end vouches for each entry and a changed row no longer leads to its entry. Entries with a wrong hash
 * only appear as errors.
 * @throws {CommandFailure} without consents
 */
export async function consentProofs(
  service: Service,
  email: string,
  watching: Watching,
): Promise<{ readonly document: ProofDocument; readonly page: string; readonly isProved: boolean }> {
  const entries: ProvedEntry[] = [];
  const positions: number[] = [];
  const errors: string[] = [];
  let isProved = true;
  await checkChain(service, watching, {
    onEntry: ({ position, kind, row_id, salt, content_hash, previous, hash, facts }, content) => {
      const isSealed = content !== null && 'email' in content && content.email === email;
      if (isSealed || facts?.email === email) positions.push(position);
      const entry = { position, kind, row_id, content, salt, content_hash, previous, hash };
      if (isSealed && kind !== 'erasure' && kind !== 'acceptance') entries.push(entry as ProvedEntry);
    },
    onError: (error, isAccepted) => {
      const [first, last] = error.unproves;
      if (!positions.some((position) => first <= position && position <= last)) return;
      isProved &&= isAccepted;
      if (errors.length < MOST_ERRORS)
        errors.push(`${isAccepted ? 'Accepted: ' : ''}${sayChainError(error)}`);
    },
  });
  if (positions.length === 0) {
    await personalDataOf(service.database.db, email);
    throw new CommandFailure(
      `${email} has not verified a consent here, so there is no proof. The timeline shows the stored data: show ${email}`,
    );
  }
  const document = { email, errors, entries };
  return { document, page: consentPage(document, service.campaign.site.title, service.clock()), isProved };
}

export const sayChainError = ({ position, expected, found }: ChainError): string =>
  `${position === null ? 'Expected' : `Entry ${position}: expected`} ${expected}, found ${found}.`;

const consentPage = ({ email, errors, entries }: ProofDocument, title: string, now: number): string =>
  paperPage({
    heading: `Proof of consent: ${email}`,
    about: `${title}. Written on ${secondOf(isoTime(now))}. All times are in UTC.`,
    body: [warning(errors), ...entries.map(sectionOf)].join('\n'),
  });

const warning = (errors: readonly string[]): string =>
  errors.length === 0
    ? ''
    : `<h2>This does not verify</h2>
<p>The chain was changed after it was sealed. Until that is explained, the rest of this page proves nothing.</p>
<ul>${errors.map((error) => `<li>${escapeHtml(error)}</li>`).join('\n')}</ul>`;

function sectionOf(entry: ProvedEntry): string {
  const place: readonly Fact[] = [
    ['Position in the chain', String(entry.position)],
    ['Kind and row', `${entry.kind} ${entry.row_id}`],
    ['Hash of the previous entry', entry.previous],
    ['Hash of this entry', entry.hash],
    ['Hash of its content', entry.content_hash],
    ['Salt', entry.salt],
  ];
  switch (entry.kind) {
    case 'consent':
      return consentSection(entry.content, place);
    case 'withdrawal':
      return section(`Withdrawn on ${secondOf(entry.content.withdrawn_at)}`, [
        ['By way of', WAYS[entry.content.way]],
        ['From', entry.content.client_address],
        ['Browser', entry.content.user_agent],
        ...place,
      ]);
    case 'removal':
      return section(
        `Taken off the list of addresses that get no mail on ${secondOf(entry.content.removed_at)}`,
        [
          ['It stood there as', entry.content.reasons.replaceAll(' ', ', ')],
          ['The operator says', entry.content.note],
          ...place,
        ],
      );
  }
}

const WAYS: Readonly<Record<Contents['withdrawal']['way'], string>> = {
  page: 'the page that the link in an e-mail opens',
  'one-click': 'the button of a mail program',
  complaint: 'a complaint to the mail provider',
  'by-hand': 'the operator',
};

function consentSection(consent: Contents['consent'], place: readonly Fact[]): string {
  const { same_browser: sameBrowser, mailed_at: mailedAt } = consent;
  return section(
    `Agreed on ${secondOf(consent.given_at)}`,
    [
      ['Name', consent.name],
      ['Company', consent.company],
      ...Object.values(readAnswers(consent.answers)).map(({ label, answer }): Fact => [
        label,
        answerText(answer),
      ]),
      ['Wording, version', consent.consent_version],
      ['Page', consent.page],
      ['Agreed at', secondOf(consent.given_at)],
      ['Agreed from', consent.client_address],
      ['Browser', consent.user_agent],
      ['Code mailed as', consent.message_id],
      ['Code mailed at', mailedAt && secondOf(mailedAt)],
      ['The mail server answered', consent.reply],
      ['Code entered at', secondOf(consent.verified_at)],
      ['Code entered from', consent.verified_from_address],
      ['Code entered in', sameBrowser === 1 ? OWN_BROWSER : OTHER_BROWSER],
      ...place,
    ],
    consent.wording,
  );
}

const OWN_BROWSER = 'the browser that sent the form';
const OTHER_BROWSER = 'another browser than the form';

type Fact = readonly [name: string, value: string | null | undefined];

const section = (heading: string, rows: readonly Fact[], quote?: string): string =>
  `<h2>${heading}</h2>
${quote === undefined ? '' : `<blockquote>${escapeHtml(quote)}</blockquote>`}
<dl>${rows
    .flatMap(([name, value]) => (value ? [`<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`] : []))
    .join('\n')}</dl>`;
