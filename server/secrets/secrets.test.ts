import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';

import { codeDigits, codeReference, findCode } from '#server/codes/digits.ts';
import { deriveSecrets, makeSecretFile, readSecretFile, sign, unsign } from '#server/secrets/secrets.ts';
import { inFolder } from '#testing/folder.ts';

const execute = promisify(execFile);
const OLD = 'old-secret-0123456789-0123456789-0123456789';
const NEW = 'new-secret-0123456789-0123456789-0123456789';

it('a signature is verified only by the secret that signed it', () => {
  const secrets = deriveSecrets([OLD]);
  const signed = sign(secrets, 'value.with.dots');
  assert.equal(unsign(secrets, '', signed), 'value.with.dots');
  assert.equal(unsign(secrets, 'value.', signed), 'with.dots');
  assert.equal(unsign(secrets, 'with.', signed), null);
  const changed = signed.replace('with', 'wilt');
  for (const forged of ['', '.', 'value.', `x${signed}`, `${signed}A`, signed.slice(0, -1), changed])
    assert.equal(unsign(secrets, '', forged), null, forged);
  assert.equal(unsign(deriveSecrets([NEW]), '', signed), null);
});

it('a new secret is created once, complete and readable only by its owner', () =>
  inFolder((folder) => {
    const file = path.join(folder, 'data', 'app-secret');
    assert.deepEqual(readSecretFile(file), { type: 'missing' });
    const secret = makeSecretFile(file);
    assert.equal(secret.length, 43);
    assert.equal(makeSecretFile(file), secret, 'a second start takes the one that is there');
    assert.deepEqual(readSecretFile(file), { type: 'secret', secret });
    assert.equal(readFileSync(file, 'utf8'), secret);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(path.dirname(file)), ['app-secret'], 'no draft stays');
    writeFileSync(file, `${secret}\n`);
    assert.deepEqual(readSecretFile(file), { type: 'secret', secret });
    chmodSync(file, 0o644);
    readSecretFile(file);
    assert.equal(statSync(file).mode & 0o777, 0o600);
  }));

it('processes that start for the first time together get the same secret', () =>
  inFolder(async (folder) => {
    const script = `
      const { makeSecretFile } = await import('#server/secrets/secrets.ts');
      process.stdout.write(makeSecretFile(${JSON.stringify(path.join(folder, 'app-secret'))}));
    `;
    const made = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const typed = ['--input-type=module', '--eval', script];
        return (await execute(process.execPath, typed, { cwd: import.meta.dirname })).stdout;
      }),
    );
    assert.match(made[0] ?? '', /^[\w-]{43}$/);
    assert.equal(new Set(made).size, 1);
  }));

const secrets = deriveSecrets([OLD]);
const key = (id: string) => ({ id, secret_id: secrets[0].id });

it('a one-time code consists of six evenly distributed digits', () => {
  assert.equal(codeDigits(secrets, key('a')), codeDigits(deriveSecrets([OLD]), key('a')));
  assert.notEqual(
    codeDigits(secrets, key('a')),
    codeDigits(deriveSecrets([NEW]), { id: 'a', secret_id: deriveSecrets([NEW])[0].id }),
  );
  const counts = Array.from({ length: 10 }, () => 0);
  const seen = new Set<string>();
  for (let i = 0; i < 20_000; i += 1) {
    const digits = codeDigits(secrets, key(`code ${i}`)) ?? '';
    assert.match(digits, /^\d{6}$/);
    seen.add(digits);
    for (const digit of digits) counts[Number(digit)] = (counts[Number(digit)] ?? 0) + 1;
  }
  // 120,000 digits: 12,000 of each expected, standard deviation about 104.
  for (const count of counts) assert.ok(Math.abs(count - 12_000) < 600, String(counts));
  assert.ok(seen.size > 19_700, 'few repeat');
});

it('a one-time code survives a rotation and becomes invalid with its secret', () => {
  const code = key('a');
  assert.equal(codeDigits(deriveSecrets([NEW, OLD]), code), codeDigits(secrets, code));
  assert.equal(codeDigits(deriveSecrets([NEW]), code), null);
  assert.equal(findCode(deriveSecrets([NEW]), [code], '000000', 2), null);
});

it('a one-time code matches only the right candidate', () => {
  const digits = codeDigits(secrets, key('b')) ?? '';
  assert.equal(findCode(secrets, [key('a'), key('b')], digits, 2)?.id, 'b');
  assert.equal(findCode(secrets, [key('a')], digits, 2), null);
  assert.equal(findCode(secrets, [], digits, 2), null);
  assert.equal(findCode(secrets, [key('b')], digits.slice(1), 2), null);
});

it('the reference of a one-time code cannot spell a word', () => {
  for (let i = 0; i < 500; i += 1)
    assert.match(codeReference(secrets, key(String(i))), /^[BCDFGHJKMNPQRSTVWXZ]{3}$/);
});
