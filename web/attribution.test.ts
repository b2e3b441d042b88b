import assert from 'node:assert/strict';
import { beforeEach, it } from 'node:test';

import { attributionOf } from '#server/attribution/attribution.ts';
import { VISIT_HEADER } from '#shared/api.ts';
import { visitHeader } from '#web/attribution.ts';
import { noteFirstTouch } from '#web/first-touch.ts';

const define = (name: string, descriptor: PropertyDescriptor) =>
  Object.defineProperty(globalThis, name, { ...descriptor, configurable: true });

beforeEach(() => {
  const kept = new Map<string, string>();
  const getItem = (key: string) => kept.get(key) ?? null;
  define('sessionStorage', { value: { getItem, setItem: kept.set.bind(kept) } });
});

function open(search: string, referrer = ''): void {
  define('location', { value: { search, host: 'guide.example.com' } });
  define('document', { value: { referrer } });
  noteFirstTouch();
}
const sent = () => attributionOf(visitHeader());

it('visitHeader sends the first and the last touch of a visit', () => {
  open('?utm_source=newsletter&gclid=a%20b&sessionid=secret', 'https://mail.example.org/inbox?u=ada');
  const first = { utm_source: 'newsletter', gclid: 'a b', referrer: 'mail.example.org' };
  assert.deepEqual(sent(), first);
  open('?utm_source=partner', 'https://partner.example.net/');
  assert.deepEqual(sent(), { utm_source: 'partner', referrer: 'partner.example.net', first });
});

it('visitHeader is empty without a known source and needs no storage', () => {
  define('sessionStorage', {
    get: () => {
      throw new DOMException('Forbidden', 'SecurityError');
    },
  });
  open('?from=x', 'https://guide.example.com/imprint');
  assert.deepEqual(visitHeader(), {});
  open('?gbraid=1');
  assert.deepEqual(sent(), { gbraid: '1' });
});

it('visitHeader leaves out a touch that is too long for a header', () => {
  const long = `?${new URLSearchParams({ utm_term: '漢'.repeat(200), utm_content: '字'.repeat(200) })}`;
  open(long);
  open('?utm_source=partner');
  assert.deepEqual(sent(), { utm_source: 'partner' });
  open(long);
  assert.deepEqual(visitHeader(), {});
});

it('attributionOf strips direction marks from a source and drops an invisible source', () => {
  const last = (source: string) => ({
    [VISIT_HEADER]: `${new URLSearchParams({ last: `${new URLSearchParams({ utm_source: source })}` })}`,
  });
  assert.deepEqual(attributionOf(last('\u202Erettelswen')), { utm_source: 'rettelswen' });
  assert.deepEqual(attributionOf(last('\u200B\u3164')), {});
});

it('attributionOf keeps only known parameters of limited length', () => {
  const visit = (last: Record<string, string>) =>
    new URLSearchParams({ last: `${new URLSearchParams(last)}` });
  const kept = attributionOf({
    [VISIT_HEADER]: `${visit({ utm_source: `${'x'.repeat(199)}😀`, password: 'p', referrer: 'javascript:alert(1)', fbclid: 'a\0b\u0085' })}`,
    referer: 'https://guide.example.com/?utm_source=other',
  });
  assert.deepEqual(kept, { utm_source: 'x'.repeat(199), fbclid: 'ab' });
  assert.deepEqual(attributionOf({ [VISIT_HEADER]: 'x'.repeat(9_000) }), {});
  const referer = 'https://guide.example.com/?li_fat_id=7&referrer=a.example';
  assert.deepEqual(attributionOf({ referer }), { li_fat_id: '7' });
});
