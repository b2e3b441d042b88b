import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';

import { PROJECT_FOLDER } from '#server/platform/project-folder.ts';
import { readCampaign } from '#server/campaign/campaign.ts';
import { composeBreakerNotice } from '#server/mail/letters/breaker-notice.ts';
import { composeCodeEmail } from '#server/mail/letters/code-mail.ts';

const words = readCampaign(path.join(PROJECT_FOLDER, 'campaign'));
assert(words.type === 'campaign');
const { codeEmail } = words.campaign;

describe('a mail', () => {
  it('with a code names its language', () => {
    const facts = { digits: '123456', reference: 'QFX', validForMs: 600_000, title: 'Leitfaden' };
    assert.match(composeCodeEmail(codeEmail, { ...facts, language: 'de' }).html, /^<html lang="de">$/m);
    assert.match(composeCodeEmail(codeEmail, { ...facts, language: 'en' }).html, /^<html lang="en">$/m);
  });

  it('with a code says for how long it is valid, in the plural its language asks for', () => {
    const validity = (minutes: number, language: string) =>
      composeCodeEmail(
        { ...codeEmail, validity: '{lifetime}.' },
        { digits: '123456', reference: 'QFX', validForMs: minutes * 60_000, title: 'Guide', language },
      )
        .text.match(/^.*\.$/gm)
        ?.at(-2);
    assert.equal(validity(10, 'en'), '10 minutes.');
    assert.equal(validity(1, 'en'), '1 minute.');
    assert.equal(validity(2.5, 'de'), '3 Minuten.');
    assert.equal(validity(2, 'pl'), '2 minuty.');
    assert.equal(validity(5, 'pl'), '5 minut.');
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
