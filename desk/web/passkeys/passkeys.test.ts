import assert from 'node:assert/strict';
import { it } from 'node:test';

import { canUsePasskeys, describePasskeyError } from '#desk/web/passkeys/passkeys.ts';

const able = Object.assign(() => {}, {
  parseCreationOptionsFromJSON: () => {},
  parseRequestOptionsFromJSON: () => {},
});
const at = (hostname: string, PublicKeyCredential?: unknown) =>
  canUsePasskeys({ location: { hostname }, PublicKeyCredential });

it('passkeys are available for a domain name, but not for an IP address', () => {
  for (const name of ['desk.example.com', 'localhost', '1.example.com']) assert.ok(at(name, able), name);
  for (const numbers of ['127.0.0.1', '203.0.113.4', '[::1]']) assert.ok(!at(numbers, able), numbers);
});

it('passkeys are unavailable if the browser lacks a function', () => {
  const { parseCreationOptionsFromJSON, parseRequestOptionsFromJSON } = able;
  for (const unable of [
    undefined,
    () => {},
    Object.assign(() => {}, { parseCreationOptionsFromJSON }),
    Object.assign(() => {}, { parseRequestOptionsFromJSON }),
  ])
    assert.ok(!at('desk.example.com', unable));
});

it('a failed passkey explains what to do unless the user cancelled', () => {
  const failure = (name: string, action: 'add' | 'use') =>
    describePasskeyError(action, new DOMException('', name));
  for (const action of ['add', 'use'] as const) {
    assert.equal(failure('NotAllowedError', action), null);
    assert.equal(failure('AbortError', action), null);
  }
  assert.match(failure('InvalidStateError', 'add') ?? '', /already has one of your passkeys/);
  assert.match(failure('NotSupportedError', 'add') ?? '', /screen lock/);
  assert.match(describePasskeyError('add', new TypeError('toJSON is no function')) ?? '', /another browser/);
  for (const error of [new DOMException('', 'NotSupportedError'), new TypeError('no'), null])
    assert.match(describePasskeyError('use', error) ?? '', /e-mailed code/);
});
