import assert from 'node:assert/strict';
import { it } from 'node:test';

import { suggestEmail } from '#web/form/email-suggestion.ts';
import { words } from '#testing/words.ts';

it('suggestEmail corrects one typo in a common domain, and a top-level domain that does not exist', () => {
  const typos = words(
    `gmial.com gmai.com gmaill.com gnail.com gmail.co gmail.con gamil.com gmail.cmo GMIAL.COM`,
  );
  for (const domain of typos) assert.equal(suggestEmail(`ada@${domain}`), 'ada@gmail.com', domain);
  assert.equal(suggestEmail('ada@hotmial.com'), 'ada@hotmail.com');
  assert.equal(suggestEmail('ada@outlok.com'), 'ada@outlook.com');
  assert.equal(suggestEmail(' Ada.L+x@yaho.com '), 'Ada.L+x@yahoo.com');
  assert.equal(suggestEmail('ada@iclod.com'), 'ada@icloud.com');
  assert.equal(suggestEmail('ada@engines.con'), 'ada@engines.com');
});

it('suggestEmail leaves correct and unknown domains unchanged', () => {
  const fine = words(`
    ada@gmail.com ada@engines.com ada@engines.co ada@ymail.com ada@gmx.com ada@mail.com
    ada@proton.me ada@live.com ada@five.com.au ada@x.io ada ada@`);
  for (const address of [...fine, '', 'a b@gmial.com']) assert.equal(suggestEmail(address), null, address);
});
