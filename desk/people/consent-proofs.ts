import { CommandFailure } from '#desk/command-failure.ts';
import { requirePersonalData } from '#desk/people/held-data.ts';
import { paperPage, type Letterhead } from '#desk/paper.ts';
import { formatSecond } from '#desk/shown-time.ts';
import type { ChainEntry, ChainError, Contents, RowKind } from '#server/consent/chain.ts';
import { verifyChain, type ChainReport, type CheckOptions } from '#server/consent/check.ts';
import { sealConsents } from '#server/consent/sealer.ts';
import { escapeHtml } from '#server/platform/text.ts';
import { isoTime } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';
import { displayedAnswer, readAnswers } from '#shared/own-fields.ts';

/** Checking the whole chain takes seconds per 100,000 consents. */
export type ChainProgress = {
  readonly signal: AbortSignal;
  readonly onSealed?: (count: number) => void;
  readonly onChecked?: (count: number) => void;
};

export const sealAll = (service: Service, { signal, onSealed = () => {} }: ChainProgress): Promise<unknown> =>
  sealConsents(service, { shouldStop: () => signal.aborted, onSealed });

export async function checkChain(
  service: Service,
  progress: ChainProgress,
  options: CheckOptions,
): Promise<ChainReport> {
  await sealAll(service, progress);
  return verifyChain(service.database.db, {
    ...options,
    secrets: service.secrets,
    now: service.clock(),
    onChecked: (checked) => {
      progress.signal.throwIfAborted();
      progress.onChecked?.(checked);
    },
  });
}

type EntryOf<Kind, Content> = Pick<
  ChainEntry,
  'position' | 'row_id' | 'salt' | 'content_hash' | 'previous' | 'hash'
> & { readonly kind: Kind; readonly content: Content };

type ProofEntry = { readonly [Kind in RowKind]: EntryOf<Kind, Contents[Kind]> }[RowKind];

type ProofDocument = {
  readonly email: string;
  /** Those that the operator has accepted begin with "Accepted". */
  readonly errors: readonly string[];
  readonly entries: readonly ProofEntry[];
};

const MAX_ERRORS = 100;

/**
 * Checks the whole chain, because the signature at its end covers each entry. Shows the entries whose sealed content names the
 * person. Errors are also shown for entries whose present row names them, because either may have been changed. Entries with a
 * wrong hash have no readable content, so they only appear as errors.
 * @throws {CommandFailure} without consents
 */
export async function consentProofs(
  service: Service,
  email: string,
  progress: ChainProgress,
): Promise<{ readonly document: ProofDocument; readonly page: string; readonly isValid: boolean }> {
  const entries: ProofEntry[] = [];
  const positions: number[] = [];
  const newErrors: string[] = [];
  const acceptedErrors: string[] = [];
  await checkChain(service, progress, {
    onEntry: ({ position, kind, row_id, salt, content_hash, previous, hash, facts: presentRow }, sealed) => {
      const entry = { position, kind, row_id, content: sealed, salt, content_hash, previous, hash };
      const isNamedInContent = sealed !== null && 'email' in sealed && sealed.email === email;
      if (isNamedInContent || presentRow?.email === email) positions.push(position);
      if (isNamedInContent && isAboutRow(entry)) entries.push(entry);
    },
    // An error that does not concern all entries is reported after the last one that it concerns.
    onError: (error, isAccepted) => {
      const { unproves } = error;
      if (unproves !== 'all' && !positions.some((at) => unproves[0] <= at && at <= unproves[1])) return;
      const errors = isAccepted ? acceptedErrors : newErrors;
      if (errors.length < MAX_ERRORS)
        errors.push(`${isAccepted ? 'Accepted: ' : ''}${describeChainError(error)}`);
    },
  });
  if (positions.length === 0) {
    await requirePersonalData(service.database.db, email);
    throw new CommandFailure(
      `${email} has not verified a consent here, so there is no proof. To see the stored data, run: show ${email}`,
    );
  }
  const isValid = newErrors.length === 0;
  const document = { email, errors: [...newErrors, ...acceptedErrors].slice(0, MAX_ERRORS), entries };
  const page = consentPage(document, isValid, service.campaign.site, service.clock());
  return { document, page, isValid };
}

/** Erasures and acceptances have no row. */
const isAboutRow = (entry: EntryOf<ChainEntry['kind'], object | null>): entry is ProofEntry =>
  entry.content !== null && entry.kind !== 'erasure' && entry.kind !== 'acceptance';

export const describeChainError = ({ position, expected, found }: ChainError): string =>
  `${position === null ? 'Expected' : `Entry ${position}: expected`} ${expected}, found ${found}.`;

const consentPage = (
  { email, errors, entries }: ProofDocument,
  isValid: boolean,
  site: Letterhead,
  now: number,
): string =>
  paperPage({
    site,
    heading: `Proof of consent: ${email}`,
    about: `Written on ${formatSecond(isoTime(now))}. All times are in UTC.`,
    body: [
      errorSection(errors, isValid),
      ...entries.map((entry) => `${eventSection(entry)}\n${chainSection(entry, isValid)}`),
      HOW_TO_CHECK,
    ].join('\n'),
  });

const HOW_TO_CHECK = `<h2>How to check this</h2>
<p>The operator runs <code>npm run -s desk -- consent verify</code>, which computes every hash again. Anyone else can compute them from the JSON file of <code>consent export</code>: the hash of a content is SHA-256 of salt, line feed and the content as JSON without spaces; the hash of an entry is SHA-256 of previous hash, position, kind, row ID and content hash, separated by line feeds.</p>`;

function errorSection(errors: readonly string[], isValid: boolean): string {
  if (errors.length === 0) return '';
  const [heading, about] = isValid
    ? [
        'Accepted changes',
        'The operator accepted these changes, and the acceptance is an entry of the chain.',
      ]
    : [
        'This proof is not valid',
        'The chain was changed after it was sealed. Until the change is explained, the rest of this page proves nothing.',
      ];
  return `<h2>${heading}</h2>
<p>${about}</p>
<ul>${errors.map((error) => `<li>${escapeHtml(error)}</li>`).join('\n')}</ul>`;
}

function eventSection(entry: ProofEntry): string {
  switch (entry.kind) {
    case 'consent':
      return consentSection(entry.content);
    case 'withdrawal':
      return `<h2>Withdrawn on ${formatSecond(entry.content.withdrawn_at)}</h2>
${factList([
  ['Through', WAYS[entry.content.way]],
  ['From', entry.content.client_address],
  ['Browser', entry.content.user_agent],
])}`;
    case 'removal':
      return `<h2>Removed from the suppression list on ${formatSecond(entry.content.removed_at)}</h2>
${factList([
  ['Suppressed because', entry.content.reasons.replaceAll(' ', ', ')],
  ['Note of the operator', entry.content.note],
])}`;
  }
}

const chainSection = (
  { position, kind, row_id, salt, content_hash, previous, hash }: ProofEntry,
  isValid: boolean,
): string =>
  `<h3>Entry ${position} of the chain</h3>
<div class="sealed">
${factList([
  ['Kind and row', `${kind} ${row_id}`],
  ['Previous hash', grouped(previous), 'hash'],
  ['Hash', grouped(hash), 'hash'],
  ['Hash of the content', grouped(content_hash), 'hash'],
  ['Salt', grouped(salt), 'hash'],
])}
${sealSvg(hash, isValid)}
</div>`;

/** Groups of eight can be compared by eye. */
const grouped = (hash: string | null): string | undefined => hash?.match(/.{1,8}/g)?.join(' ');

/**
 * Draws a spoke for each hexadecimal digit, so that entries with different hashes look different. Only a valid proof gets a tick.
 */
function sealSvg(hash: string, isValid: boolean): string {
  const spokes = Array.from(hash, (digit, at) => {
    const angle = (at / hash.length) * 2 * Math.PI;
    const point = (radius: number) =>
      `${(50 + radius * Math.sin(angle)).toFixed(1)} ${(50 - radius * Math.cos(angle)).toFixed(1)}`;
    return `M${point(25)}L${point(27 + Number.parseInt(digit, 16))}`;
  });
  const tick = '<path class="tick" stroke-width="3" stroke-linejoin="round" d="M41 50.5l6.5 6.5 12-13.5"/>';
  return `<svg class="seal" viewBox="0 0 100 100" role="img" aria-label="A seal drawn from the hash of this entry"><path stroke-width="1.6" d="${spokes.join('')}"/><circle cx="50" cy="50" r="47" stroke-width="1"/><circle cx="50" cy="50" r="20" stroke-width="1"/>${isValid ? tick : ''}</svg>`;
}

const WAYS: Readonly<Record<Contents['withdrawal']['way'], string>> = {
  page: 'the link in an e-mail',
  'one-click': 'the unsubscribe button of a mail program',
  complaint: 'a spam complaint to the mail provider',
  'by-hand': 'the operator',
};

function consentSection(consent: Contents['consent']): string {
  const { same_browser: sameBrowser, mailed_at: mailedAt } = consent;
  return `<h2>Agreed ${consent.purpose === 'news' ? 'to get news ' : ''}on ${formatSecond(consent.given_at)}</h2>
<blockquote>${escapeHtml(consent.wording)}</blockquote>
<h3>Who</h3>
${factList([
  ['Name', consent.name],
  ['Company', consent.company],
  ...Object.values(readAnswers(consent.answers)).map(({ label, answer }): Fact => [
    label,
    displayedAnswer(answer),
  ]),
])}
<h3>How and where the box was ticked</h3>
${factList([
  ['Agreed at', formatSecond(consent.given_at)],
  ['Page', consent.page],
  ['Wording version', consent.consent_version],
  ['IP address', consent.client_address],
  ['Browser', consent.user_agent],
])}
<h3>How the address was proved</h3>
${factList([
  ['Code e-mailed at', mailedAt && formatSecond(mailedAt)],
  ['Message ID', consent.message_id],
  ['Mail server’s reply', consent.reply],
  ['Code entered at', formatSecond(consent.verified_at)],
  ['IP address', consent.verified_from_address],
  ['Browser', sameBrowser === 1 ? OWN_BROWSER : OTHER_BROWSER],
])}`;
}

const OWN_BROWSER = 'the one that sent the form';
const OTHER_BROWSER = 'not the one that sent the form';

type Fact = readonly [name: string, value: string | null | undefined, style?: 'hash'];

const factList = (facts: readonly Fact[]): string =>
  `<dl>${facts
    .filter(([, value]) => value)
    .map(
      ([name, value, style]) =>
        `<dt>${escapeHtml(name)}</dt><dd${style === undefined ? '' : ` class="${style}"`}>${escapeHtml(value ?? '')}</dd>`,
    )
    .join('\n')}</dl>`;
