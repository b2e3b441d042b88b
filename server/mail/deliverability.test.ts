import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { GERMAN_CAMPAIGN, TEST_CAMPAIGN } from '#testing/built-site.ts';
import { deliverabilityFaults } from '#testing/deliverability.ts';
import { sendEveryMail } from '#testing/every-mail.ts';

const SENT = { English: sendEveryMail(TEST_CAMPAIGN), German: sendEveryMail(GERMAN_CAMPAIGN) };

describe('deliverability of mail', () => {
  for (const [language, sending] of Object.entries(SENT)) {
    it(`every mail in ${language} meets the rules of filters and mail programs`, async () => {
      const { mails, resolver } = await sending;
      const faults: string[] = [];
      for (const sent of mails)
        for (const fault of await deliverabilityFaults(sent, resolver))
          faults.push(`${sent.name}: it ${fault}`);
      assert.deepEqual(faults, []);
      assert.deepEqual(
        mails.map(({ name }) => name),
        ['code', 'guide, link', 'new lead', 'guide, attached', 'breaker notice', 'digest'],
      );
    });
  }

  it('a mail that breaks a rule of deliverability is rejected', async () => {
    const { mails, resolver } = await SENT.English;
    const [code] = mails;
    assert(code !== undefined);
    const { mail } = code;
    const changed = {
      ...code,
      isForList: true,
      mail: {
        ...mail,
        raw: mail.raw.replace(/^Subject: /im, 'Subject: Re: ').replace('\r\n', '\n'),
        parsed: {
          ...mail.parsed,
          headers: mail.parsed.headers.filter(({ key }) => key !== 'feedback-id'),
          html: `${mail.parsed.html?.replace('</body>', '<img src="https://else.example/x.gif"><p>More</p></body>')}`,
        },
      },
    };
    const faults = (await deliverabilityFaults(changed, resolver)).join('\n');
    for (const fault of [
      /does not end with CR LF/,
      /no Feedback-ID/,
      /has no list-id/,
      /says different things in plain text and HTML/,
      /has a picture/,
      /has a signature with the result/,
    ])
      assert.match(faults, fault);
  });
});
