// The proofs of somebody's consent, as a page to print.
import type { ChainEntry, ConsentProof } from '#server/db/consent-chain.ts';
import { escapeHtml } from '#server/escape-html.ts';
import { paperPage } from '#server/people/paper-page.ts';

/**
 * @param proofs as the chain has them
 * @returns one document that needs no other file
 */
export function consentPage({
  email,
  proofs,
  title,
  writtenAt,
}: {
  email: string;
  proofs: readonly (Omit<ChainEntry, 'content'> & { readonly proof: ConsentProof })[];
  title: string;
  writtenAt: Date;
}): string {
  return paperPage({
    heading: `Proof of consent: ${email}`,
    about: `${title}. Written on ${said(writtenAt.toISOString())}. All times are in UTC.`,
    body: proofs.map(proofSection).join('\n'),
  });
}

function proofSection({
  position,
  hash,
  content_hash: contentHash,
  salt,
  proof,
}: Parameters<typeof consentPage>[0]['proofs'][number]): string {
  const { mail, wording } = proof;
  const rows: readonly (readonly [string, string | null | undefined])[] = [
    ['Name', proof.name],
    ['Company', proof.company],
    ['Wording, version', wording.version],
    ['Page', proof.page],
    ['Agreed at', said(proof.givenAt)],
    ['Agreed from', proof.givenFrom],
    ['Browser', proof.browser],
    ['Code mailed as', mail?.messageId],
    ['Code mailed at', mail?.sentAt && said(mail.sentAt)],
    ['The mail server answered', mail?.answer],
    ['Code entered at', said(proof.codeEnteredAt)],
    ['Code entered from', proof.codeEnteredFrom],
    [
      'Code entered in',
      proof.sameBrowser === null
        ? null
        : proof.sameBrowser
          ? 'the browser that sent the form'
          : 'another browser than the form',
    ],
    ['Place in the chain', String(position)],
    ['Hash of this entry', hash],
    ['Hash of its content', contentHash],
    ['Salt', salt],
  ];
  const list = rows.flatMap(([name, value]) =>
    value ? [`<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`] : [],
  );
  return `<h2>Agreed on ${said(proof.givenAt)}</h2>
<blockquote>${escapeHtml(wording.text)}</blockquote>
<dl>${list.join('\n')}</dl>`;
}

/** 2026-11-21 09:30:05 */
const said = (iso: string): string => iso.slice(0, 19).replace('T', ' ');
