import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';

import { PROJECT_FOLDER } from '#server/platform/files.ts';
import { readCampaign } from '#server/campaign/campaign.ts';
import { composeBreakerNotice } from '#server/mail/templates/notice-mail.ts';
import { composeCodeEmail } from '#server/mail/templates/code-mail.ts';
import { composeGuideEmail } from '#server/mail/templates/guide-mail.ts';

const words = readCampaign(path.join(PROJECT_FOLDER, 'campaign'));
assert(words.type === 'campaign');
const { codeEmail, guideEmail } = words.campaign;

describe('mail templates', () => {
  it('a code mail declares its language', () => {
    const facts = { digits: '123456', reference: 'QFX', validForMs: 600_000, title: 'Leitfaden' };
    assert.match(composeCodeEmail(codeEmail, { ...facts, language: 'de' }).html, /^<html lang="de">$/m);
    assert.match(composeCodeEmail(codeEmail, { ...facts, language: 'en' }).html, /^<html lang="en">$/m);
  });

  it('a code mail states the lifetime of the code in the correct plural', () => {
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

  const guideFacts = {
    title: 'Leitfaden',
    language: 'de',
    accent: '#1c4e8a',
    postalAddress: undefined,
    host: 'guide.example.com',
    link: 'https://guide.example.com/api/guide?t=x',
    days: 7,
    unsubscribe: 'https://guide.example.com/api/unsubscribe?t=x',
  };

  it("the guide mail has a button in the campaign's accent colour", () => {
    const { html } = composeGuideEmail(guideEmail, guideFacts);
    assert.match(html, /background:#1c4e8a/);
    assert.doesNotMatch(html, /#0e5a43/);
  });

  it('the guide mail describes its content if the campaign does', () => {
    const { inside, ...others } = guideEmail;
    assert.ok(inside !== undefined);
    const mail = composeGuideEmail(guideEmail, guideFacts);
    for (const part of [mail.text, mail.html]) assert.ok(part.includes(inside));
    const { text, html } = composeGuideEmail(others, guideFacts);
    for (const part of [text, html]) assert.doesNotMatch(part, /undefined|first chapter/);
  });

  it('the guide mail ends with the postal address, line by line, in both parts', () => {
    const postalAddress = 'Guide & Sons\n1 Main Street\nSpringfield';
    const { text, html } = composeGuideEmail(guideEmail, { ...guideFacts, postalAddress });
    assert.ok(text.endsWith('\n\nGuide & Sons\n1 Main Street\nSpringfield\n'));
    assert.ok(html.includes('Guide &amp; Sons<br>1 Main Street<br>Springfield</p>'));
    assert.doesNotMatch(JSON.stringify(composeGuideEmail(guideEmail, guideFacts)), /undefined|<br><\/p>/);
  });

  it('every mail to a visitor begins with the title in both parts', () => {
    const facts = { digits: '123456', reference: 'QFX', validForMs: 600_000, title: 'A & B', language: 'en' };
    for (const mail of [
      composeCodeEmail(codeEmail, facts),
      composeGuideEmail(guideEmail, { ...guideFacts, title: 'A & B' }),
    ]) {
      assert.ok(mail.text.startsWith('A & B\n\n'));
      assert.match(mail.html, /<div [^>]*>\n<p [^>]*border-bottom[^>]*>A &amp; B<\/p>/);
    }
  });

  it("the mail about the breaker states the reason in the campaign's words", () => {
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
