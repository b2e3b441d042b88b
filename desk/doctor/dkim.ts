// Checks that the published public key matches the signing key (DKIM, RFC 6376).
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';

import type { DkimConfig } from '#server/settings/settings.ts';
import { sayFailed, type Dns } from '#server/platform/dns.ts';
import { dnsDomainOf } from '#desk/doctor/domains.ts';
import { about, type Finding, type Findings } from '#desk/doctor/finding.ts';
import { dkimError } from '#server/mail/dkim-key.ts';

const { ok, note, warning, problem } = about('DKIM');

/** Shorter keys still work, but RFC 8301 (section 3.2) advises against new ones. */
const GOOD_BITS = 2048;

/** @param dkim null if mail is not signed */
export async function examineDkim(dns: Dns, dkim: DkimConfig | null): Promise<Findings> {
  if (dkim === null)
    return note(
      'This server does not sign (DKIM_DOMAIN is not set). Your mail provider may; that was not looked at: a mail of doctor --send shows it in its headers (DKIM-Signature).',
    );
  const complaint = await dkimError(dkim);
  if (complaint !== null) return problem(complaint);
  const ours = createPublicKey(createPrivateKey(readFileSync(dkim.privateKeyFile, 'utf8')));
  const name = `${dkim.keySelector}._domainkey.${dnsDomainOf(dkim.domainName)}`;
  const publish = { name, type: 'TXT', value: `v=DKIM1; k=rsa; p=${derOf(ours)}` };

  const answer = await dns.texts(name);
  if (answer.type === 'failed') return problem(sayFailed(name, answer.reason));
  if (answer.type === 'nothing')
    return problem(`No DKIM key is published at ${name}: no mail server can check what we sign.`, publish);
  const [record = ''] = answer.records;
  if (answer.records.length > 1)
    return problem(
      `There are ${answer.records.length} records at ${name}, where mail servers expect one. Replace them with one.`,
      publish,
    );
  const tags = readTags(record);
  const fault = faultOf(tags, ours);
  if (fault !== null) return problem(`The DKIM record at ${name} ${fault}`, publish);
  const findings: Finding[] = [];
  if (
    tags
      .get('t')
      ?.split(':')
      .some((flag) => flag.trim() === 'y')
  )
    findings.push(
      warning(
        `The DKIM record at ${name} says that it is for testing (t=y): some mail servers ignore it.`,
        publish,
      ),
    );
  if ((ours.asymmetricKeyDetails?.modulusLength ?? 0) < GOOD_BITS)
    findings.push(
      warning(
        `Our DKIM key has ${ours.asymmetricKeyDetails?.modulusLength} bits. Make one of ${GOOD_BITS} and publish it under another selector: openssl genrsa -out dkim.pem ${GOOD_BITS}`,
      ),
    );
  return findings.length > 0 ? findings : [ok(`The key at ${name} is ours.`)];
}

/** @returns the rest of a sentence; null if mail servers can verify our signature */
function faultOf(tags: ReadonlyMap<string, string>, ours: KeyObject): string | null {
  const listed = (tag: string, wanted: readonly string[]) =>
    tags
      .get(tag)
      ?.split(':')
      .some((entry) => wanted.includes(entry.trim().toLowerCase())) ?? true;
  if ((tags.get('v') ?? 'DKIM1') !== 'DKIM1') return 'does not begin with v=DKIM1.';
  const key = tags.get('p')?.replaceAll(/\s/g, '');
  if (key === undefined) return 'holds no key (p=).';
  if (key === '') return 'says that the key was withdrawn (an empty p=).';
  if (!listed('k', ['rsa'])) return 'is for another kind of key than ours, which is RSA.';
  if (!listed('h', ['sha256'])) return 'does not allow SHA-256, which we use to sign.';
  if (!listed('s', ['*', 'email'])) return 'is not for e-mail (s=).';
  const published = keyOf(key);
  if (published === null) return 'holds a key that cannot be read.';
  return derOf(published) === derOf(ours)
    ? null
    : 'holds another key than DKIM_PRIVATE_KEY_FILE: all our signatures fail.';
}

const derOf = (key: KeyObject): string => key.export({ type: 'spki', format: 'der' }).toString('base64');

function keyOf(base64: string): KeyObject | null {
  for (const type of ['spki', 'pkcs1'] as const) {
    try {
      return createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type });
    } catch {
      // The key may have the other format.
    }
  }
  return null;
}

/**
 * Reads a DKIM or DMARC record: name=value pairs, separated by semicolons (RFC 6376, section 3.2). A repeated name keeps its
 * first value.
 */
export function readTags(record: string): ReadonlyMap<string, string> {
  const tags = new Map<string, string>();
  for (const part of record.split(';')) {
    const at = part.indexOf('=');
    const name = part.slice(0, Math.max(0, at)).trim();
    if (name !== '' && !tags.has(name)) tags.set(name, part.slice(at + 1).trim());
  }
  return tags;
}
