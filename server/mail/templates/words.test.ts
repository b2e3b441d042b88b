import assert from 'node:assert/strict';
import path from 'node:path';
import { it } from 'node:test';

import { PROJECT_FOLDER } from '#server/platform/files.ts';
import { readCampaign } from '#server/campaign/campaign.ts';
import { composeCodeEmail } from '#server/mail/templates/code-mail.ts';
import { composeDigestEmail } from '#server/mail/templates/daily-weekly-digest.ts';
import { composeGuideEmail } from '#server/mail/templates/guide-mail.ts';
import { composeNoticeEmail } from '#server/mail/templates/notice-mail.ts';
import { ACCENT, contrastOf, middleOf } from '#shared/colours.ts';

const words = readCampaign(path.join(PROJECT_FOLDER, 'campaign'));
assert(words.type === 'campaign');
const { codeEmail, guideEmail, newLeadEmail } = words.campaign;
const BLUE = { light: '#1c4e8a', dark: '#9cc4f5' };
const codeFacts = {
  digits: '123456',
  reference: 'QFX',
  validForMs: 600_000,
  title: 'Leitfaden',
  language: 'en',
  accent: ACCENT,
};

it('a code mail declares its language', () => {
  const htmlIn = (language: string) => composeCodeEmail(codeEmail, { ...codeFacts, language }).html;
  assert.match(htmlIn('de'), /^<html lang="de">$/m);
  assert.match(htmlIn('en'), /^<html lang="en">$/m);
  assert.match(htmlIn('ar'), /^<html lang="ar" dir="rtl">$/m);
});

it('a code mail states the lifetime of the code in the correct plural', () => {
  const validity = (minutes: number, language: string) =>
    composeCodeEmail(
      { ...codeEmail, validity: '{lifetime}.' },
      { ...codeFacts, validForMs: minutes * 60_000, language },
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
  accent: BLUE,
  postalAddress: undefined,
  host: 'guide.example.com',
  link: 'https://guide.example.com/api/guide?t=x',
  unsubscribe: 'https://guide.example.com/api/unsubscribe?t=x',
};

it('the rule below a headline is visible on light and dark backgrounds', () => {
  for (const accent of [ACCENT, BLUE]) {
    const colour = middleOf(accent);
    assert.ok(composeCodeEmail(codeEmail, { ...codeFacts, accent }).html.includes(`solid ${colour}`));
    for (const background of ['#ffffff', '#000000'])
      assert.ok(contrastOf(colour, background) > 3, `${colour} on ${background}`);
  }
});

it('a code mail contains the title once, then the digits, the reference and the lifetime', () => {
  const { text, html } = composeCodeEmail(codeEmail, codeFacts);
  const order = /Leitfaden[^]*123456[^]*QFX[^]*10 minutes/;
  assert.match(text, order);
  const body = html.slice(html.indexOf('<h1'));
  assert.match(body.replaceAll(/<[^>]*>/g, ''), order, 'the digits can be copied without a gap');
  for (const part of [text, body]) assert.equal(part.split('Leitfaden').length, 2);
});

it('a code mail has a preview that adds to its subject', () => {
  const { subject, html } = composeCodeEmail(codeEmail, codeFacts);
  assert.equal(subject, '123456 is your code for Leitfaden');
  const [, preview] = /<div aria-hidden="true"[^>]*>([^&]*)/.exec(html) ?? [];
  assert.equal(preview, 'Valid for 10 minutes. Reference QFX.');
});

it('the guide mail describes its content if the campaign does', () => {
  const { inside, ...others } = guideEmail;
  assert.ok(inside !== undefined);
  const mail = composeGuideEmail(guideEmail, guideFacts);
  for (const part of [mail.text, mail.html]) assert.ok(part.includes(inside));
  const { text, html } = composeGuideEmail(others, guideFacts);
  for (const part of [text, html]) assert.doesNotMatch(part, /undefined|first chapter/);
});

it('a mail shows the line breaks of its words in both parts', () => {
  const lines = 'Hello & welcome,\n\nthe guide is open.';
  const inHtml = 'Hello &amp; welcome,<br><br>the guide is open.<';
  const code = { ...codeEmail, validity: lines };
  const guide = { ...guideEmail, greeting: lines, why: lines };
  for (const { text, html } of [
    composeCodeEmail(code, codeFacts),
    composeGuideEmail(guide, guideFacts),
    composeNoticeEmail(codeFacts, { subject: 'Notice', text: lines }),
  ]) {
    assert.ok(text.includes(lines));
    assert.equal(html.split(inHtml).length, text.split(lines).length);
  }
});

it('the guide mail ends with the postal address, line by line, in both parts', () => {
  const postalAddress = 'Guide & Sons\n1 Main Street\nSpringfield';
  const { text, html } = composeGuideEmail(guideEmail, { ...guideFacts, postalAddress });
  assert.ok(text.endsWith('\n\nGuide & Sons\n1 Main Street\nSpringfield\n'));
  assert.ok(html.includes('Guide &amp; Sons<br>1 Main Street<br>Springfield</p>'));
  assert.doesNotMatch(JSON.stringify(composeGuideEmail(guideEmail, guideFacts)), /undefined|<br><\/p>/);
});

it('the daily mail isolates each value, so that a right-to-left language does not reorder it', () => {
  const lead = {
    id: 'sample',
    email: 'ada@example.com',
    name: 'Ada Lovelace',
    company: 'Engines Inc.',
    attribution: '{"utm_source":"newsletter","utm_campaign":"spring"}',
    answers: JSON.stringify({ phone: { label: 'الهاتف', answer: '+44 20 7946 0018' } }),
    flags: '',
    first_verified_at: Date.UTC(2026, 10, 20),
    news: 0,
  };
  const { html } = composeDigestEmail(newLeadEmail, {
    title: 'دليل',
    language: 'ar',
    accent: ACCENT,
    timeZone: 'UTC',
    host: 'guide.example.com',
    deskUrl: null,
    figures: { from: 0, to: 1, days: 1, before: 0, steps: [], sources: [] },
    leads: [lead],
    count: 1,
  });
  for (const value of ['Ada Lovelace', 'Engines Inc.', '+44 20 7946 0018', 'newsletter', 'spring'])
    assert.ok(html.includes(`<bdi>${value}</bdi>`), value);
});
