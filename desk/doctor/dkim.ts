// Checks that the published public key matches the signing key (DKIM, RFC 6376).
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';

import type { DkimConfig } from '#server/settings/settings.ts';
import { describeFailed, type Dns } from '#server/platform/dns.ts';
import { dnsDomainOf } from '#desk/doctor/domains.ts';
import { about, type Findings } from '#desk/doctor/finding.ts';
import { dkimError } from '#server/mail/dkim-key.ts';
import { orNull } from '#shared/or-null.ts';

const { ok, note, problem } = about('DKIM');

export async function examineDkim(dns: Dns, dkim: DkimConfig | null): Promise<Findings> {
  if (dkim === null)
    return note(
      'This server does not sign e-mails because DKIM_DOMAIN is not set. Your mail provider may sign them: look for a DKIM-Signature in the headers of an e-mail sent with doctor --send.',
    );
  const error = await dkimError(dkim);
  if (error !== null) return problem(error);
  const ownKey = createPublicKey(createPrivateKey(readFileSync(dkim.privateKeyFile, 'utf8')));
  const name = `${dkim.keySelector}._domainkey.${dnsDomainOf(dkim.domainName)}`;
  const publish = { name, type: 'TXT', value: `v=DKIM1; k=rsa; p=${derOf(ownKey)}` };

  const reply = await dns.texts(name);
  if (reply.type === 'failed') return problem(describeFailed(name, reply.reason));
  if (reply.type === 'nothing')
    return problem(
      `No DKIM key is published at ${name}, so mail servers cannot verify our signatures. Publish the key.`,
      publish,
    );
  const [record = ''] = reply.records;
  if (reply.records.length > 1)
    return problem(
      `There are ${reply.records.length} TXT records at ${name}, but mail servers expect one. Replace them with a single record.`,
      publish,
    );
  const fault = faultOf(readTags(record), ownKey);
  if (fault !== null) return problem(`The DKIM record at ${name} ${fault} Replace the record.`, publish);
  return ok(`The key published at ${name} matches ours.`);
}

/** @returns the fault as the rest of a sentence; null if mail servers can verify our signature */
function faultOf(tags: ReadonlyMap<string, string>, ownKey: KeyObject): string | null {
  if ((tags.get('v') ?? 'DKIM1') !== 'DKIM1') return 'does not begin with v=DKIM1.';
  const type = tags.get('k') ?? 'rsa';
  if (type !== 'rsa') return `has k=${type}, but DKIM_PRIVATE_KEY_FILE contains an RSA key.`;
  const hashes = tags.get('h')?.split(/\s*:\s*/) ?? ['sha256'];
  if (!hashes.includes('sha256')) return 'does not allow SHA-256 (h=), which our signatures use.';
  const key = tags.get('p')?.replaceAll(/\s/g, '');
  if (key === '') return 'says that the key was revoked (empty p=).';
  const published = keyOf(key ?? '');
  if (published === null) return 'contains no readable key (p=).';
  return derOf(published) === derOf(ownKey)
    ? null
    : 'does not match DKIM_PRIVATE_KEY_FILE, so all our signatures fail.';
}

const derOf = (key: KeyObject): string => key.export({ type: 'spki', format: 'der' }).toString('base64');

function keyOf(base64: string): KeyObject | null {
  const key = Buffer.from(base64, 'base64');
  const read = (type: 'spki' | 'pkcs1') => orNull(() => createPublicKey({ key, format: 'der', type }));
  return read('spki') ?? read('pkcs1');
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
