import assert from 'node:assert/strict';
import { it } from 'node:test';

import { mailProviderOf } from '#web/verification/mail-providers.ts';
import { words } from '#testing/words.ts';

const SENDER = 'guide+codes@example.com';
const nameFor = (domain: string) => mailProviderOf(`ada@${domain}`, SENDER)?.name ?? null;

it('mailProviderOf recognises providers by domain in every country', () => {
  const cases = {
    Gmail: ['gmail.com', 'googlemail.com', 'GMail.com'],
    Outlook: words(`outlook.com outlook.de outlook.com.br hotmail.fr hotmail.co.uk live.nl msn.com`),
    Yahoo: ['yahoo.com', 'yahoo.co.uk', 'yahoo.com.br', 'yahoo.de', 'ymail.com', 'rocketmail.com'],
    iCloud: ['icloud.com', 'me.com', 'mac.com'],
  };
  for (const [name, domains] of Object.entries(cases))
    for (const domain of domains) assert.equal(nameFor(domain), name, domain);
});

it('mailProviderOf returns null for company domains and lookalikes', () => {
  const domains = words(`
    example.com gmail.com.evil.example evil-gmail.com mail.gmail.com gmail.co gmail.de
    outlook.com.evil.example outlook.evil live.example yahoo.co.jp yahoo.com.com com gmail
    .com me.org`);
  for (const domain of [...domains, '']) assert.equal(nameFor(domain), null, domain);
  assert.equal(mailProviderOf('ada@gmail.com@evil.example', SENDER), null);
});

it('mailProviderOf links to a search for the sender and encodes both addresses', () => {
  assert.equal(
    mailProviderOf('ada+x&y#z@gmail.com', SENDER)?.href,
    'https://mail.google.com/mail/?authuser=ada%2Bx%26y%23z%40gmail.com#search/from%3Aguide%2Bcodes%40example.com+in%3Aanywhere+newer_than%3A1d',
  );
  assert.equal(
    mailProviderOf('ada@yahoo.de', SENDER)?.href,
    'https://mail.yahoo.com/d/search/keyword=from%253Aguide%252Bcodes%2540example.com',
  );
  assert.equal(mailProviderOf('ada@outlook.de', SENDER)?.href, 'https://outlook.live.com/mail/0/');
  assert.equal(mailProviderOf('ada@me.com', SENDER)?.href, 'https://www.icloud.com/mail/');
});
