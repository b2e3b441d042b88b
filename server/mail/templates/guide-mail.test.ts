import assert from 'node:assert/strict';
import { it } from 'node:test';

import { v7 as uuid } from 'uuid';

import { guideUrl, unsubscribeUrl } from '#server/secrets/mail-links.ts';
import { addMail, findTurn, takeMail } from '#server/jobs/mail-jobs.ts';
import { queueGuideMail } from '#server/mail/templates/guide-mail.ts';
import { readInstance } from '#server/startup/service.ts';
import { API } from '#shared/api.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { changeFiles, withLastingCampaignCopy } from '#testing/campaign-copy.ts';
import { withDatabase } from '#testing/databases.ts';
import { environment } from '#testing/environment.ts';
import { smtpError, type ReceivedMail } from '#testing/inbox.ts';
import { createVisitor, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';

const EMAIL = 'ada@example.com';
const LINK = { GUIDE_EMAIL: 'link', PUBLIC_URL: 'https://guide.example.com' };

const headerOf = ({ parsed }: ReceivedMail, name: string): string | undefined =>
  parsed.headers.find(({ key }) => key === name)?.value;

const pathIn = (text: string, api: string): string =>
  new RegExp(`https://guide\\.example\\.com(${api}\\?t=\\S+)`).exec(text)?.[1] ??
  assert.fail(`no ${api} in it`);

async function openOnAnotherDevice(server: ServerUnderTest, url: string) {
  const device = createVisitor(server, '203.0.113.9');
  const opened = await device.get(url);
  return { device, opened };
}

onEachEngine('guide mail', { env: LINK }, ({ test, engine }) => {
  test('the guide mail opens the guide on another device for seven days', async (server) => {
    const { leadId } = await becomeLead(server, EMAIL);
    const mail = await server.inbox.waitForMail(EMAIL, 2);
    const { text = '', html = '' } = mail.parsed;
    const url = pathIn(text, API.guide);
    assert.doesNotMatch(text + html, /Lovelace|Analytical/, 'nothing that a visitor typed');

    const { device, opened } = await openOnAnotherDevice(server, url);
    assert.equal(opened.statusCode, 303);
    assert.equal(opened.headers.location, '/#guide');
    assert.equal((await device.get(API.article)).statusCode, 200);

    const almost = guideUrl(server.service.secrets, '', leadId, server.now() - 7 * 86_400_000 + 1_000);
    assert.equal((await openOnAnotherDevice(server, almost)).opened.statusCode, 303);
    for (const wrong of [
      guideUrl(server.service.secrets, '', leadId, server.now() - 7 * 86_400_000),
      guideUrl(server.service.secrets, '', '01930000-0000-7000-8000-000000000000', server.now()),
      unsubscribeUrl(server.service.secrets, '', leadId).replace(API.unsubscribe, API.guide),
      `${url}x`,
      API.guide,
    ]) {
      const refused = await openOnAnotherDevice(server, wrong);
      assert.equal(refused.opened.statusCode, 404, wrong);
      assert.match(refused.opened.body, /This link has expired/);
      assert.equal((await refused.device.get(API.article)).statusCode, 401);
    }
  });

  test(
    'mails name an international domain in its own letters, but in ASCII in headers and links',
    {
      env: {
        PUBLIC_URL: 'https://bücher.example',
        NEW_LEAD_EMAIL: 'each',
        OPERATOR_EMAIL: 'you@example.com',
      },
    },
    async (server) => {
      await becomeLead(server, EMAIL);
      const guide = await server.inbox.waitForMail(EMAIL, 2);
      assert.match(guide.parsed.text ?? '', /^You get this email because .* at bücher\.example /m);
      assert.match(guide.parsed.text ?? '', /https:\/\/xn--bcher-kva\.example\/api\/unsubscribe/);
      assert.match(headerOf(guide, 'list-id') ?? '', /<guide\.xn--bcher-kva\.example>$/);
      const { parsed } = await server.inbox.waitForMail('you@example.com');
      assert.match(parsed.text ?? '', /^You get this email from bücher\.example because /m);
    },
  );

  test('the guide mail has the header for unsubscribing with one click', async (server) => {
    await becomeLead(server, EMAIL);
    const mail = await server.inbox.waitForMail(EMAIL, 2);
    assert.equal(headerOf(mail, 'list-unsubscribe-post'), 'List-Unsubscribe=One-Click');
    assert.match(headerOf(mail, 'list-id') ?? '', /<guide\.guide\.example\.com>$/);
    const way = pathIn(mail.parsed.text ?? '', API.unsubscribe);
    assert.equal(headerOf(mail, 'list-unsubscribe'), `<https://guide.example.com${way}>`);
  });

  it('codes requested after a guide mail to the same domain are sent first, in the turn they would have had', () =>
    withDatabase(engine, async (database) => {
      const { db } = database;
      const id = (at: number) => uuid({ msecs: at });
      const [asked, later] = [1_000_000, 1_300_000];
      await queueGuideMail(db, { id: id(asked), leadId: id(asked), recipient: EMAIL, now: asked });
      const code = { kind: 'code', recipient: 'eve@example.com', payload: {} };
      const lanes = { network: '203.0.113.20', domain: 'example.com' };
      const turn = await findTurn(db, lanes, { now: later, codeTtlSeconds: 600 });
      assert.deepEqual(turn, { type: 'found', turnAt: later });
      const place = { ...lanes, turnAt: later };
      await addMail(db, { ...code, id: id(later), place, now: later });
      const lease = { leaseId: id(later), limit: 1, fullLanes: [], now: later };
      const kinds: string[] = [];
      for (let round = 0; round < 2; round += 1)
        kinds.push(...(await takeMail(database.db, lease)).map(({ kind }) => kind));
      assert.deepEqual(kinds, ['code', 'guide']);
    }));

  test('the guide mail is not sent to a lead who unsubscribed while it was queued', async (server) => {
    const guide = server.database.db.selectFrom('outbox').selectAll().where('kind', '=', 'guide');
    const { leadId } = await becomeLead(server, EMAIL, 1, {
      beforeCode: async () => server.inbox.behave({ onRecipient: () => smtpError(451, 'Later') }),
    });
    await until(() => server.mailEvents.at(-1)?.type === 'failed for now');
    await server.app.inject({ method: 'POST', url: unsubscribeUrl(server.service.secrets, '', leadId) });
    server.inbox.behave({});
    await server.advance(61);
    server.wakeWorker();
    await until(async () => (await guide.executeTakeFirstOrThrow()).state === 'dropped');
    assert.equal(server.inbox.mailsTo(EMAIL).length, 1);
    await becomeLead(server, EMAIL, 2);
  });
});

const named = { 'emails/guide.yaml': (text: string) => text.replace('# attachment:', 'attachment:') };

it('an attached guide file replaces the link in the mail', () => {
  const campaign = { ...named, 'article/guide.pdf': '%PDF-1.7 a guide' };
  const env = { ...LINK, GUIDE_EMAIL: 'attachment' };
  return withServer({ engine: 'sqlite', env, campaign }, async (server) => {
    await becomeLead(server, EMAIL);
    const { parsed } = await server.inbox.waitForMail(EMAIL, 2);
    const [file] = parsed.attachments;
    assert.equal(file?.filename, 'guide.pdf');
    assert.equal(file.mimeType, 'application/pdf');
    assert.equal(Buffer.from(file.content as ArrayBuffer).toString(), '%PDF-1.7 a guide');
    assert.ok(!parsed.text?.includes(API.guide));
    assert.match(parsed.text ?? '', /attached/);
    assert.equal((await server.app.inject({ method: 'GET', url: '/guide.pdf' })).statusCode, 404);
  });
});

it('a missing or large guide file is reported before the start', () =>
  withLastingCampaignCopy(async (folder) => {
    const complaints = (): string => {
      const instance = readInstance();
      return instance.type === 'mistakes' ? instance.mistakes.join('\n') : 'none';
    };
    using _environment = environment({ CAMPAIGN_FOLDER: folder, GUIDE_EMAIL: 'attachment' });
    changeFiles(folder, named);
    assert.match(complaints(), /guide\.yaml:\d+: attachment: needs article\/guide\.pdf/);
    changeFiles(folder, { 'article/guide.pdf': Buffer.alloc(8_000_000) });
    assert.match(complaints(), /names a file of 8 MB/);
  }));
