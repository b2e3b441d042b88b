// The proofs of a person's consent, as a page to print.
import type { PlacedConsent, PlacedRemoval, PlacedWithdrawal } from '#server/db/across/consent-check.ts';
import { escapeHtml } from '#server/platform/escape-html.ts';
import { secondOf } from '#desk/shown-time.ts';
import { paperPage } from '#desk/people/paper-page.ts';
import { answerText } from '#shared/own-answers.ts';

/**
 * @param page proofs, withdrawals and removals, as they were sealed; faults: a sentence for each reason why they are not proved
 * @returns one document that needs no other file
 */
export function consentPage({
  email,
  proofs,
  withdrawals,
  removals,
  faults,
  title,
  writtenAt,
}: {
  email: string;
  proofs: readonly PlacedConsent[];
  withdrawals: readonly PlacedWithdrawal[];
  removals: readonly PlacedRemoval[];
  faults: readonly string[];
  title: string;
  writtenAt: Date;
}): string {
  return paperPage({
    heading: `Proof of consent: ${email}`,
    about: `${title}. Written on ${secondOf(writtenAt.toISOString())}. All times are in UTC.`,
    body: [
      warning(faults),
      ...[
        ...proofs.map((entry) => ({ at: entry.proof.givenAt, section: proofSection(entry) })),
        ...withdrawals.map((entry) => ({ at: entry.proof.withdrawnAt, section: withdrawalSection(entry) })),
        ...removals.map((entry) => ({ at: entry.proof.removedAt, section: removalSection(entry) })),
      ]
        .toSorted((a, b) => (a.at < b.at ? -1 : 1))
        .map(({ section }) => section),
    ].join('\n'),
  });
}

const warning = (faults: readonly string[]): string =>
  faults.length === 0
    ? ''
    : `<h2>This does not verify</h2>
<p>The chain was changed after it was sealed. Until that is explained, what follows proves nothing.</p>
<ul>${faults.map((fault) => `<li>${escapeHtml(fault)}</li>`).join('\n')}</ul>`;

function proofSection({ proof, ...place }: PlacedConsent): string {
  const { mail, wording } = proof;
  return `<h2>Agreed on ${secondOf(proof.givenAt)}</h2>
<blockquote>${escapeHtml(wording.text)}</blockquote>
${facts([
  ['Name', proof.name],
  ['Company', proof.company],
  ...Object.values(proof.answers ?? {}).map(({ label, answer }): Fact => [label, answerText(answer)]),
  ['Wording, version', wording.version],
  ['Page', proof.page],
  ['Agreed at', secondOf(proof.givenAt)],
  ['Agreed from', proof.givenFrom],
  ['Browser', proof.browser],
  ['Code mailed as', mail?.messageId],
  ['Code mailed at', mail?.sentAt && secondOf(mail.sentAt)],
  ['The mail server answered', mail?.answer],
  ['Code entered at', secondOf(proof.codeEnteredAt)],
  ['Code entered from', proof.codeEnteredFrom],
  [
    'Code entered in',
    proof.sameBrowser === null
      ? null
      : proof.sameBrowser
        ? 'the browser that sent the form'
        : 'another browser than the form',
  ],
  ...placeFacts(place),
])}`;
}

const WAYS: Readonly<Record<PlacedWithdrawal['proof']['way'], string>> = {
  page: 'the page that the link in an e-mail opens',
  'one-click': 'the button of a mail program',
  complaint: 'a complaint to the mail provider',
  'by-hand': 'the operator',
};

function withdrawalSection({ proof, ...place }: PlacedWithdrawal): string {
  return `<h2>Taken back on ${secondOf(proof.withdrawnAt)}</h2>
${facts([
  ['By way of', WAYS[proof.way]],
  ['From', proof.withdrawnFrom],
  ['Browser', proof.browser],
  ...placeFacts(place),
])}`;
}

function removalSection({ proof, ...place }: PlacedRemoval): string {
  return `<h2>Taken off the list of addresses that get no mail on ${secondOf(proof.removedAt)}</h2>
${facts([
  ['It stood there as', proof.reasons.join(', ')],
  ['The operator says', proof.note],
  ...placeFacts(place),
])}`;
}

type Fact = readonly [name: string, value: string | null | undefined];

const placeFacts = (place: Omit<PlacedConsent, 'proof'>): readonly Fact[] => [
  ['Place in the chain', String(place.position)],
  ['Hash of this entry', place.hash],
  ['Hash of its content', place.content_hash],
  ['Salt', place.salt],
];

const facts = (rows: readonly Fact[]): string =>
  `<dl>${rows
    .flatMap(([name, value]) => (value ? [`<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`] : []))
    .join('\n')}</dl>`;
