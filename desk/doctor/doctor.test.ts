import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';

import type { Finding } from '#desk/endpoints/figures.ts';
import { adding, copyCampaign } from '#testing/campaign-copy.ts';
import { MATRIX_ENGINES, freshDatabase } from '#testing/databases.ts';
import { deskIn, succeeded } from '#testing/desk.ts';
import { startDnsServer } from '#testing/dns-server.ts';
import {
  doctor,
  findingsAbout,
  findingsIn,
  NOW,
  doctorTargetOf,
  withInstance,
} from '#testing/examined-instance.ts';
import { listening } from '#testing/listening.ts';
import { TEST_SECRET, withServer } from '#testing/server-under-test.ts';
import { valuesOf } from '#testing/values-of.ts';

const SEND = ['--send', 'ada@example.com'];

for (const engine of MATRIX_ENGINES)
  it(`the doctor finds nothing wrong in a healthy instance and leaves ${engine} unchanged`, () =>
    withInstance({ engine }, async (instance) => {
      const file = path.join(instance.folder, 'data/leads.db');
      const before = engine === 'sqlite' ? readFileSync(file) : null;
      const { exitCode, out, notes } = await doctor(doctorTargetOf(instance, instance.env), ['--json']);
      const found = JSON.parse(out) as { healthy: boolean; problems: number; findings: Finding[] };
      assert.equal(exitCode, 0, out);
      assert.deepEqual([found.healthy, found.problems], [true, 0]);
      assert.equal(notes, '0 problems and 0 warnings.');
      const states = Object.fromEntries(found.findings.map(({ check, state }) => [check, state]));
      assert.deepEqual(states, {
        settings: 'ok',
        words: 'note',
        page: 'note',
        address: 'note',
        database: 'ok',
        disk: engine === 'sqlite' ? 'ok' : 'note',
        clock: engine === 'sqlite' ? 'note' : 'ok',
        secret: 'ok',
        files: 'ok',
        ...(engine === 'sqlite' && { backup: 'note' }),
        'mail account': 'note',
        sender: 'ok',
        MX: 'ok',
        SPF: 'ok',
        DKIM: 'note',
        DMARC: 'note',
        'reverse DNS': 'note',
      });
      if (before) assert.deepEqual(readFileSync(file), before);
      assert.deepEqual(instance.inbox.mails, []);
    }));

describe('doctor runs', () => {
  it('the doctor prints DNS records to publish and sends a sample with --send', () =>
    withInstance({ engine: 'sqlite', zone: { 'example.com': {} } }, async (instance) => {
      const { exitCode, out, notes } = await doctor(doctorTargetOf(instance, instance.env), SEND);
      assert.equal(exitCode, 1);
      assert.match(
        out,
        /^warning +DMARC +example\.com has no DMARC record.*\n +publish +name: +_dmarc\.example\.com\n +type: +TXT\n +value: +v=DMARC1; /m,
      );
      assert.match(
        out,
        /^ok +sample +The mail server accepted a sample for ada@example\.com with the reply “250 /m,
      );
      assert.match(notes, /^2 problems and 1 warning\.$/);
      await instance.inbox.waitForMail('ada@example.com');
    }));

  it('the doctor checks the MX and SPF records of the return-path domain', () =>
    withInstance({ engine: 'sqlite' }, async (instance) => {
      const env = { BOUNCE_DOMAIN: 'bounces.example.com' };
      await doctor(doctorTargetOf(instance, { ...instance.env, ...env }), SEND);
      const { from } = await instance.inbox.waitForMail('ada@example.com');
      assert.match(from, /@bounces\.example\.com$/);
      const found = await findingsIn(instance, { env });
      const about = (check: string) => found.filter((finding) => finding.check === check);
      assert.deepEqual(
        about('SPF').map(({ state, sentence }) => [state, sentence.split(' ')[0]]),
        [['problem', 'bounces.example.com']],
      );
      const mx = about('MX');
      assert.deepEqual(valuesOf(mx, 'state'), ['ok', 'problem']);
      assert.match(mx[1]?.sentence ?? '', /bounces\.example\.com/);
      const [, finding] = about('sender');
      assert.match(
        finding?.sentence ?? '',
        /bounces\.example\.com \(BOUNCE_DOMAIN\)\. This domain needs its own MX record/,
      );
    }));

  it('the doctor warns about a sender at a free mail provider and suggests no DNS records for it', () =>
    withInstance({ engine: 'sqlite' }, async (instance) => {
      const env = { MAIL_FROM: 'Guide <guide@gmail.com>' };
      const found = await findingsIn(instance, { env });
      const sender = found.filter(({ check }) => ['sender', 'SPF', 'MX', 'DMARC'].includes(check));
      assert.deepEqual(
        sender.map(({ state, sentence }) => `${state}: ${sentence}`),
        [
          'warning: gmail.com is a free mail provider. Mail from there arrives only through the provider’s own mail server. Set MAIL_FROM to an address at your domain, or SMTP_URL to that server.',
        ],
      );
    }));

  it('the doctor reports the age of the newest backup', () =>
    withInstance({ engine: 'sqlite' }, async (instance) => {
      const backup = (now: number) => findingsAbout('backup', instance, { now });
      assert.match((await backup(NOW))[0]!, /: No backup made with "npm run -s desk -- backup" was found\./);
      await succeeded(
        deskIn(instance.folder, instance.env, ['backup', path.join(instance.folder, 'copy.db')], {
          clock: () => NOW,
        }),
      );
      const made = Date.parse(readFileSync(path.join(instance.folder, 'data/last-backup'), 'utf8').trim());
      for (const [days, said] of [
        [0.5, 'ok: The newest backup is less than 24 hours old.'],
        [2.5, 'ok: The newest backup is 2 days old.'],
        [9.5, 'warning: The newest backup is 9 days old. Find out why the nightly backup fails.'],
      ] as const)
        assert.deepEqual(await backup(made + days * 86_400_000), [said]);
    }));

  it('the doctor reports a mail server that refuses everyone and undelivered webhook events', () =>
    withInstance({ engine: 'sqlite' }, async (instance) => {
      const env = { WEBHOOK_URLS: 'https://crm.example.com/leads' };
      const problems = async () =>
        (await findingsIn(instance, { env }))
          .filter(({ check, state }) => (check === 'webhooks' ? state !== 'ok' : state === 'problem'))
          .map(({ check, sentence }) => `${check}: ${sentence}`);
      assert.deepEqual(await problems(), []);
      using database = new DatabaseSync(path.join(instance.folder, 'data/leads.db'));
      const insert = database.prepare(
        `insert into outbox (id, kind, payload, recipient, recipient_domain, network, state, reply, created_at, turn_at, due_at, finished_at)
         values (?, 'code', '{}', 'ada@example.com', ?, ?, 'failed', '550 no', 1, 1, 1, ?)`,
      );
      for (let count = 1; count <= 3; count += 1)
        insert.run(`mail ${count}`, `${count}.example`, `198.51.100.${count}`, Date.now());
      database.exec(
        "insert into webhook_events (id, type, lead_id, endpoint, position, payload, state, attempts, due_at, created_at, queued_at, finished_at) values ('1', 'lead.verified', 'a', 'b', 1, '{}', 'dead', 9, 1, 1, 1, 1)",
      );
      const found = (await problems()).join('\n');
      assert.match(found, /^mail account: The mail server refused all mail in the last hour/m);
      assert.match(found, /^webhooks: 1 webhook event was given up after a day of attempts\./m);
    }));

  const AFTER_CODE = { 'site.yaml': adding('afterCode: /thank-you\npostalAddress: Main Street 1') };

  for (const [title, changes, more, said, unsaid] of [
    [
      'reports words that a setting needs, like the start',
      {
        'emails/new-lead.yaml': (text: string) => text.replace(/^week:\n(?: .*\n)+/m, ''),
        'free-mail-domains.txt': null,
      },
      {
        GUIDE_EMAIL: 'attachment',
        NEW_LEAD_EMAIL: 'weekly',
        OPERATOR_EMAIL: 'you@example.com',
        FREE_MAIL: 'block',
      },
      [
        /^problem +settings +GUIDE_EMAIL is attachment, but emails\/guide\.yaml names no file\./m,
        /^problem +settings +NEW_LEAD_EMAIL is weekly, but emails\/new-lead\.yaml has no words/m,
        /^problem +settings +FREE_MAIL is block, but free-mail-domains\.txt lists no domains\./m,
      ],
      /All settings are valid/,
    ],
    [
      'warns about afterCode if no mail brings visitors back to the guide',
      AFTER_CODE,
      { GUIDE_EMAIL: 'off' },
      [/\/thank-you after the code/],
      /postalAddress/,
    ],
    [
      'warns about a missing postal address if a mail requires it',
      {},
      { GUIDE_EMAIL: 'link' },
      [/^warning +words +.*postalAddress/m],
      /thank-you/,
    ],
    ['accepts afterCode if a mail leads to the guide', AFTER_CODE, { GUIDE_EMAIL: 'link' }, [], /thank-you/],
    [
      'reports remaining sample content and noindex',
      { 'site.yaml': adding('noindex: true') },
      {},
      [/people are/, /figures are/, /publisher: this is still/, /noindex: this line/],
      /^problem|postalAddress/m,
    ],
  ] as const)
    it(`the doctor ${title}`, () =>
      withInstance({ engine: 'sqlite' }, async (instance) => {
        const words = copyCampaign(instance.folder, changes);
        const { out } = await doctor(doctorTargetOf(instance, { ...instance.env, ...more }, words));
        for (const sentence of said) assert.match(out, sentence);
        assert.doesNotMatch(out, unsaid);
      }));

  it('the doctor reports invalid settings, and runs the other checks even if the campaign is invalid', () =>
    withInstance({ engine: 'sqlite' }, async (instance) => {
      const words = path.join(instance.folder, 'words');
      mkdirSync(words);
      const wrongWords = await doctor(doctorTargetOf(instance, instance.env, words), SEND);
      assert.equal(wrongWords.exitCode, 1);
      assert.match(wrongWords.out, /^problem +words +.*consent\.yaml/m);
      assert.match(wrongWords.out, /^ok +database /m);
      assert.match(wrongWords.out, /^ok +sample /m);

      const target = doctorTargetOf(instance, { PORT: 'http', DATABASE_URL: 'x' });
      const wrong = await doctor(target, ['--json', ...SEND]);
      assert.equal(wrong.exitCode, 1);
      const { healthy, findings } = JSON.parse(wrong.out) as { healthy: boolean; findings: Finding[] };
      assert.equal(healthy, false);
      assert.equal(wrong.notes, '3 problems and 0 warnings.');
      assert.match(JSON.stringify(findings), /PORT must be a whole number/);
      assert.deepEqual(
        findings.map(({ check, state }) => `${state} ${check}`),
        [
          'problem settings',
          'problem settings',
          'ok words',
          // People, figures, publisher, five files, pictures and the footer links.
          ...Array.from({ length: 10 }, () => 'note words'),
          'note other checks',
          'problem sample',
        ],
      );
    }));

  it('the doctor learns from the running site that the database file is gone', () =>
    withInstance({ engine: 'sqlite' }, async (instance) => {
      const file = path.join(instance.folder, 'served.db');
      const database = await freshDatabase('sqlite', { file });
      let port = '';
      const page = async () => (await findingsAbout('page', instance, { env: { PORT: port } }))[0]!;
      await withServer({ engine: 'sqlite', database }, async ({ app }) => {
        port = new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port;
        assert.equal(await page(), `ok: The site is running on port ${port} and is healthy.`);
        rmSync(file);
        assert.match(
          await page(),
          /^problem: The site is running .* reports: The database file was deleted or replaced/,
        );
      });
      assert.equal(
        await page(),
        `note: Nothing is listening on port ${port}. Start the site with npm start.`,
      );
      await using other = await listening(createHttpServer((_, response) => response.end('hello')));
      port = String(other.port);
      assert.equal(
        await page(),
        `problem: Port ${port} is used by another program. Stop that program, or set PORT to another number.`,
      );
    }));

  it('the doctor ends within its time limit if nothing responds', async () => {
    await using silent = await listening(createServer((socket) => socket.resume()));
    const { port } = silent;
    const names = ['example.com', '_dmarc.example.com', 'mail.example.com'];
    await using dns = await startDnsServer(
      Object.fromEntries(names.map((name) => [name, { fault: 'silence' } as const])),
    );
    const target = doctorTargetOf(
      { folder: import.meta.dirname, dnsServers: [dns.address] },
      {
        DATABASE_URL: `postgres://user@127.0.0.1:${port}/leads`,
        SMTP_URL: `smtp://127.0.0.1:${port}`,
        PORT: String(port),
        MAIL_FROM: 'guide@example.com',
        APP_SECRET: TEST_SECRET,
      },
    );
    const { exitCode, out } = await doctor(target, SEND);
    assert.equal(exitCode, 1);
    for (const check of ['page', 'database', 'mail account', 'MX', 'SPF', 'DMARC', 'sample'])
      assert.match(out, new RegExp(`^problem +${check} `, 'm'));
  });
});
