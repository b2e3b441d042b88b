import assert from 'node:assert/strict';
import { it } from 'node:test';

import { API } from '#shared/api.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { desk, refused, succeeded } from '#testing/desk.ts';
import { createVisitor, filledForm, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { smtpError } from '#testing/inbox.ts';

const EMAIL = 'ada@example.com';
const env = { GUIDE_EMAIL: 'link', PUBLIC_URL: 'https://guide.example.com' };

const sendGuide = (server: ServerUnderTest, email = EMAIL) => desk(server.service, ['send-guide', email]);

async function guides({ database: { db } }: ServerUnderTest) {
  const query = db.selectFrom('outbox').select(['recipient', 'state']).where('kind', '=', 'guide');
  return (await query.orderBy('id').execute()).map(({ recipient, state }) => `${recipient} ${state}`);
}

onEachEngine('sending the guide again', { env }, ({ test, both, engine }) => {
  both('"desk send-guide" mails a lead the guide again with a working link', async (server) => {
    await becomeLead(server, EMAIL);
    const first = await server.inbox.waitForMail(EMAIL, 2);
    await until(() => server.mailEvents.length === 2);
    await server.advance(3_600);
    const answer = await succeeded(sendGuide(server, ' ADA@example.com'));
    assert.match(answer.notes, /^The guide for ada@example\.com is queued\./);
    assert.equal(answer.out, '');
    const again = await server.inbox.waitForMail(EMAIL, 3);
    assert.equal(again.parsed.subject, first.parsed.subject);
    const [, path = ''] =
      /https:\/\/guide\.example\.com(\/api\/guide\?t=\S+)/.exec(again.parsed.text ?? '') ?? [];
    const device = createVisitor(server, '203.0.113.9');
    assert.equal((await device.get(path)).statusCode, 303);
    assert.equal((await device.get(API.article)).statusCode, 200);
  });

  it('"desk send-guide" does not queue a second guide while one is queued', async () => {
    const later = () => smtpError(451, 'Later');
    let isBusy = false;
    const onRecipient = () => (isBusy ? later() : null);
    await withServer({ engine, env, inbox: { onRecipient } }, async (server) => {
      await becomeLead(server, EMAIL);
      await until(() => server.mailEvents.length === 2);
      isBusy = true;
      const answers = await Promise.all([succeeded(sendGuide(server)), succeeded(sendGuide(server))]);
      const notes = answers.map((answer) => answer.notes).toSorted();
      assert.match(notes[0]!, /is already queued/);
      assert.match(notes[1]!, /is queued\. The running site/);
      assert.equal((await guides(server)).length, 2);
    });
  });

  test('"desk send-guide" says why a person cannot get the guide', async (server) => {
    const gets = async (sentence: RegExp, email = EMAIL) => {
      const before = await guides(server);
      await refused(sendGuide(server, email), sentence);
      assert.deepEqual(await guides(server), before);
    };
    await createVisitor(server).post(API.leads, filledForm({ email: 'never@example.com' }));
    for (const email of ['never@example.com', 'unknown@example.com'])
      await gets(new RegExp(`^Nothing was queued, because ${email} was never verified here\\.`), email);

    await becomeLead(server, EMAIL);
    // Two codes and a guide.
    await until(() => server.mailEvents.length === 3);
    await desk(server.service, ['suppress', 'add', EMAIL]);
    await gets(/is suppressed \(by-hand\)\. Remove the suppression first: suppress remove ada@/);
    await desk(server.service, ['suppress', 'add', EMAIL, '--reason', 'unsubscribed']);
    await gets(/\(by-hand, unsubscribed\)\. The person can only return/);
    await desk(server.service, ['erase', EMAIL, '--yes']);
    await gets(/^Nothing was queued, because ada@example\.com was erased\./);
    assert.equal((await sendGuide(server, 'ada')).exitCode, 2);
  });

  test(
    '"desk send-guide" explains that no guide is configured for mailing',
    { env: { GUIDE_EMAIL: 'off' } },
    async (server) => {
      await becomeLead(server, EMAIL);
      const sentence = /^Nothing was queued, because GUIDE_EMAIL is off\. Set it to link or attachment/;
      await refused(sendGuide(server), sentence);
      assert.deepEqual(await guides(server), []);
    },
  );
});
