import assert from 'node:assert/strict';
import { it } from 'node:test';

import { asciiAddress, normaliseEmail } from '#shared/lead.ts';
import { strayCharacter, tidyEmail } from '#shared/typed-input.ts';

const PASTED: readonly (readonly [from: string, typed: string])[] = [
  ['Teams and SharePoint', '\u200Bada@example.com'],
  ['the same, at the end', 'ada@example.com\u200B'],
  ['a right-to-left mark', '\u200Fada@example.com'],
  ['the address book of Windows', '\u202Aada@example.com\u202C'],
  ['a phone', '\u2068ada@example.com\u2069'],
  ['a word joiner', 'ada@example.com\u2060'],
  ['a byte order mark', '\uFEFFada@example.com'],
  ['a PDF, with a soft hyphen', 'ada@exam\u00ADple.com'],
  ['a hidden joiner', 'a\u200Dda@exam\u200Cple.com'],
  ['a Japanese keyboard', 'ada\uFF20example.com'],
  ['the same, all in full width', 'ａｄａ＠ｅｘａｍｐｌｅ．ｃｏｍ'],
  ['a link', 'mailto:ada@example.com'],
  ['a link with a subject', 'MAILTO:ada@example.com?subject=Hello&body=x@y.example'],
  ['Outlook', 'Ada Lovelace <ada@example.com>'],
  ['Outlook, as plain text', 'ada@example.com<mailto:ada@example.com>'],
  ['a list of recipients', '"Lovelace, Ada" <ada@example.com>; '],
  ['quotes', '"ada@example.com"'],
  ['a list', 'ada@example.com;'],
  ['a sentence', ' ada@example.com. '],
  ['a Japanese sentence', 'ada@example.com。'],
];
it('tidyEmail strips what other programs add to an e-mail address', () => {
  for (const [from, typed] of PASTED) {
    assert.equal(tidyEmail(typed), 'ada@example.com', from);
    assert.equal(asciiAddress(typed), 'ada@example.com', from);
    assert.equal(normaliseEmail(typed.toUpperCase()), 'ada@example.com', from);
  }
  assert.equal(tidyEmail('miles.o\u2019brien@example.com'), "miles.o'brien@example.com");
});

it('tidyEmail keeps characters that other scripts need or that change the e-mail address', () => {
  for (const kept of [
    'ada@نامه\u200Cای.example',
    'a.d+a@example.com',
    'jürgen@münchen.de',
    'ada@a.com, bob@b.com',
  ])
    assert.equal(tidyEmail(kept), kept);
  assert.equal(asciiAddress('ada@exa\u202Emoc.elpm'), null, 'an override to the right shows another address');
});

it('asciiAddress accepts every character of RFC 5321 before the @', () => {
  for (const sign of "!#$%&'*+/=?^_`{|}~-") {
    assert.equal(asciiAddress(`r${sign}d@example.com`), `r${sign}d@example.com`, sign);
    assert.equal(asciiAddress(`${sign}@example.com`), `${sign}@example.com`, sign);
  }
  for (const none of ['.a@example.com', 'a..b@example.com', 'a.@example.com', '(a)@example.com'])
    assert.equal(asciiAddress(none), null, none);
});

it('strayCharacter returns the first invalid character of an e-mail address', () => {
  const cases: readonly (readonly [typed: string, stray: string | null])[] = [
    ['jürgen@example.com', 'ü'],
    ['ada lovelace@example.com', ' '],
    ['ada@mün_chen.de', '_'],
    ['\u200Bada@münchen.de;', null],
    ['r&d@example.com', null],
    ['ada@@example.com', null],
  ];
  for (const [typed, stray] of cases) assert.equal(strayCharacter(typed), stray, typed);
});
