import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';

import { codeDigits, codeReference, findCode } from '#server/access/one-time-code.ts';
import { deriveSecrets, readOrMakeSecretFile, sign, unsign } from '#server/access/secrets.ts';

const OLD = 'old-secret-0123456789-0123456789-0123456789';
const NEW = 'new-secret-0123456789-0123456789-0123456789';

describe('secrets', () => {
  it('sign what only they can verify', () => {
    const secrets = deriveSecrets([OLD]);
    const signed = sign(secrets, 'value.with.dots');
    assert.equal(unsign(secrets, signed), 'value.with.dots');
    for (const forged of [
      '',
      '.',
      'value',
      'value.',
      `x${signed}`,
      `${signed}A`,
      signed.slice(0, -1),
      signed.replace('with', 'wilt'),
    ]) {
      assert.equal(unsign(secrets, forged), null, forged);
    }
    assert.equal(unsign(deriveSecrets([NEW]), signed), null);
  });

  it('can be changed without signing anybody out: the newest signs, all verify', () => {
    const signed = sign(deriveSecrets([OLD]), 'value');
    const rotated = deriveSecrets([NEW, OLD]);
    assert.equal(unsign(rotated, signed), 'value');
    assert.equal(unsign(deriveSecrets([OLD]), sign(rotated, 'value')), null);
  });

  it('are made once and kept for the owner only', () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'secret-'));
    try {
      const file = path.join(folder, 'data', 'app-secret');
      const secret = readOrMakeSecretFile(file);
      assert.equal(secret.length, 43);
      assert.equal(readOrMakeSecretFile(file), secret);
      assert.equal(readFileSync(file, 'utf8'), secret);
      assert.equal(statSync(file).mode & 0o777, 0o600);
      assert.ok(existsSync(file));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('one-time codes', () => {
  const secrets = deriveSecrets([OLD]);
  const key = (id: string) => ({ id, secretId: secrets[0].id });

  it('are derived from id and secret: the same for the same, six digits, spread evenly', () => {
    assert.equal(codeDigits(secrets, key('a')), codeDigits(deriveSecrets([OLD]), key('a')));
    assert.notEqual(
      codeDigits(secrets, key('a')),
      codeDigits(deriveSecrets([NEW]), { id: 'a', secretId: deriveSecrets([NEW])[0].id }),
    );
    const counts = Array.from({ length: 10 }, () => 0);
    const seen = new Set<string>();
    for (let i = 0; i < 20_000; i += 1) {
      const digits = codeDigits(secrets, key(`code ${i}`)) ?? '';
      assert.match(digits, /^\d{6}$/);
      seen.add(digits);
      for (const digit of digits) counts[Number(digit)] = (counts[Number(digit)] ?? 0) + 1;
    }
    // 120,000 digits: 12,000 of each expected, with a standard deviation of about 104.
    for (const count of counts) assert.ok(Math.abs(count - 12_000) < 600, String(counts));
    assert.ok(seen.size > 19_700, 'few repeat');
  });

  it('outlive a rotation, and end with the secret that made them', () => {
    const code = key('a');
    assert.equal(codeDigits(deriveSecrets([NEW, OLD]), code), codeDigits(secrets, code));
    assert.equal(codeDigits(deriveSecrets([NEW]), code), null);
    assert.equal(findCode(deriveSecrets([NEW]), [code], '000000', 2), null);
  });

  it('are found among candidates, and only there', () => {
    const digits = codeDigits(secrets, key('b')) ?? '';
    assert.equal(findCode(secrets, [key('a'), key('b')], digits, 2)?.id, 'b');
    assert.equal(findCode(secrets, [key('a')], digits, 2), null);
    assert.equal(findCode(secrets, [], digits, 2), null);
    assert.equal(findCode(secrets, [key('b')], digits.slice(1), 2), null);
  });

  it('have a reference that cannot be read as a word', () => {
    for (let i = 0; i < 500; i += 1)
      assert.match(codeReference(secrets, key(String(i))), /^[BCDFGHJKMNPQRSTVWXZ]{3}$/);
  });
});
