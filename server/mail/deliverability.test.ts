import assert from 'node:assert/strict';
import { it } from 'node:test';

import { GERMAN_CAMPAIGN, TEST_CAMPAIGN } from '#testing/built-site.ts';
import { deliverabilityFaults } from '#testing/deliverability.ts';
import { sendEveryMail } from '#testing/every-mail.ts';
import { valuesOf } from '#testing/values-of.ts';

const SENT = { English: sendEveryMail(TEST_CAMPAIGN), German: sendEveryMail(GERMAN_CAMPAIGN) };

for (const [language, sending] of Object.entries(SENT)) {
  it(`every mail in ${language} meets the rules of filters and mail programs`, async () => {
    const { mails, resolver } = await sending;
    const faults: string[] = [];
    for (const sent of mails)
      for (const fault of await deliverabilityFaults(sent, resolver))
        faults.push(`${sent.name}: it ${fault}`);
    assert.deepEqual(faults, []);
    assert.deepEqual(valuesOf(mails, 'name'), [
      'code',
      'guide, link',
      'new lead',
      'guide, attached',
      'breaker notice',
      'digest',
    ]);
  });
}
