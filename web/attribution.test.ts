import assert from 'node:assert/strict';
import { it } from 'node:test';

import { attributionOf } from '#server/attribution/attribution.ts';
import { VISIT_HEADER } from '#shared/api.ts';
import { visitHeader } from '#web/attribution.ts';
import { noteFirstTouch } from '#web/first-touch.ts';

function tab() {
  const kept = new Map<string, string>();
  return () => ({
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  });
}
const page =
  (search: string, referrer = '') =>
  () => ({ search, referrer, host: 'guide.example.com' });
const sent = (headers: Record<string, string>) =>
  attributionOf({ visit: headers[VISIT_HEADER], referer: undefined });

it('visitHeader sends the first and the last touch of a visit', () => {
  const storage = tab();
  const ad = page(
    '?utm_source=newsletter&gclid=a%20b&sessionid=secret',
    'https://mail.example.org/inbox?u=ada',
  );
  noteFirstTouch(storage, ad);
  assert.deepEqual(sent(visitHeader(storage, ad)), {
    utm_source: 'newsletter',
    gclid: 'a b',
    referrer: 'mail.example.org',
  });
  const later = page('?utm_source=partner', 'https://partner.example.net/');
  noteFirstTouch(storage, later);
  assert.deepEqual(sent(visitHeader(storage, later)), {
    utm_source: 'partner',
    referrer: 'partner.example.net',
    first: { utm_source: 'newsletter', gclid: 'a b', referrer: 'mail.example.org' },
  });
});

it('visitHeader is empty without a known source and needs no storage', () => {
  const own = page('?from=x', 'https://guide.example.com/imprint');
  const blocked = () => {
    throw new Error('SecurityError');
  };
  noteFirstTouch(blocked, own);
  assert.deepEqual(visitHeader(blocked, own), {});
  assert.deepEqual(sent(visitHeader(blocked, page('?gbraid=1'))), { gbraid: '1' });
});

it('attributionOf strips direction marks from a source and drops an invisible source', () => {
  const last = (source: string) => ({
    visit: `${new URLSearchParams({ last: `${new URLSearchParams({ utm_source: source })}` })}`,
    referer: undefined,
  });
  assert.deepEqual(attributionOf(last('\u202Erettelswen')), { utm_source: 'rettelswen' });
  assert.deepEqual(attributionOf(last('\u200B\u3164')), {});
});

it('attributionOf keeps only known parameters of limited length', () => {
  const visit = (last: Record<string, string>) =>
    new URLSearchParams({ last: `${new URLSearchParams(last)}` });
  const kept = attributionOf({
    visit: `${visit({ utm_source: `${'x'.repeat(199)}😀`, password: 'p', referrer: 'javascript:alert(1)', fbclid: 'a\0b\u0085' })}`,
    referer: 'https://guide.example.com/?utm_source=other',
  });
  assert.deepEqual(kept, { utm_source: 'x'.repeat(199), fbclid: 'ab' });
  assert.deepEqual(attributionOf({ visit: 'x'.repeat(9_000), referer: undefined }), {});
  assert.deepEqual(
    attributionOf({ visit: undefined, referer: 'https://guide.example.com/?li_fat_id=7&referrer=a.example' }),
    {
      li_fat_id: '7',
    },
  );
});

it('visitHeader leaves out a touch that is too long for a header', () => {
  const storage = tab();
  const long = page(`?${new URLSearchParams({ utm_term: '漢'.repeat(200), utm_content: '字'.repeat(200) })}`);
  noteFirstTouch(storage, long);
  const later = page(`?${new URLSearchParams({ utm_source: 'partner' })}`);
  assert.deepEqual(sent(visitHeader(storage, later)), { utm_source: 'partner' });
  assert.deepEqual(visitHeader(storage, long), {});
});
