import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';

import { readCampaign } from '#server/campaign.ts';
import { composeBreakerNotice } from '#server/mail/breaker-email.ts';
import { composeCodeEmail } from '#server/outbox/code-email.ts';

const words = readCampaign(path.resolve(import.meta.dirname, '../../campaign'));
assert(words.type === 'campaign');
const { codeEmail } = words.campaign;

describe('a mail', () => {
  it('with a code says in which language it is', () => {
    const facts = { digits: '123456', reference: 'QFX', validForMs: 600_000, title: 'Leitfaden' };
    assert.match(composeCodeEmail(codeEmail, { ...facts, language: 'de' }).html, /^<html lang="de">$/m);
    assert.match(composeCodeEmail(codeEmail, { ...facts, language: 'en' }).html, /^<html lang="en">$/m);
  });

  it('about the breaker tells the operator its reason, in the words of the campaign', () => {
    assert.deepEqual(
      composeBreakerNotice(
        {
          subject: 'Sperre: {title}',
          text: 'Grund: {reason}.',
          reasons: { tooManyCodes: 'zu viele Codes', tooFewEntered: 'zu wenige eingegeben' },
        },
        { reason: 'too many codes a minute', title: 'Leitfaden' },
      ),
      { subject: 'Sperre: Leitfaden', text: 'Grund: zu viele Codes.' },
    );
  });
});
