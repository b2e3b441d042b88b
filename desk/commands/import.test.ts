import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

import { pseudonymsOf } from '#server/secrets/secrets.ts';
import { suppress } from '#server/db/tables/suppressions.ts';
import type { TimelineEntry } from '#desk/endpoints/people.ts';
import { TOOL_NAMES } from '#shared/tools.ts';
import { inTurnBehindLock } from '#testing/address-lock.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { CONSENT_SOURCE, desk, importFile, importNamed, refused, succeeded } from '#testing/desk.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { inFolder } from '#testing/folder.ts';
import { refuseWrites } from '#testing/refuse-writes.ts';
import { withServer, type ServerUnderTest } from '#testing/server-under-test.ts';

/** Each file begins with a tool, perhaps a file name in brackets, and the reasons why people are left out. */
const FILES_OF_TOOLS = `# Mailchimp, subscribed [subscribed_members_export_3f2a.csv]:
Email Address,First Name,MEMBER_RATING,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,CONFIRM_IP,LAST_CHANGED,LEID,EUID,NOTES,TAGS
stays@example.com,Sue,2,2022-01-01 10:00:00,,2022-01-01 10:05:00,,2025-05-05 08:00:00,1,a1,,
# Mailchimp, unsubscribed: "UNSUB_TIME" (2), "UNSUB_CAMPAIGN_TITLE" (1)
Email Address,First Name,OPTIN_TIME,UNSUB_TIME,UNSUB_CAMPAIGN_TITLE,UNSUB_CAMPAIGN_ID,UNSUB_REASON,UNSUB_REASON_OTHER
gone1@example.com,Grace,2022-01-01 10:00:00,2025-05-05 08:00:00,,,,
gone2@example.com,Gus,,2025-05-06 08:00:00,,,NO_LONGER,
gone3@example.com,Ida,,,November,7,,
# Mailchimp, cleaned: "CLEAN_TIME" (1)
Email Address,OPTIN_TIME,CLEAN_TIME,CLEAN_CAMPAIGN_TITLE,CLEAN_CAMPAIGN_ID
gone@example.com,2021-01-01 10:00:00,2025-05-05 08:00:00,,
# Mailchimp, file names [unsubscribed_segment_export_3f2a.csv]: "File name: unsubscribed" (1)
Email Address,OPTIN_TIME
gone@example.com,2021-01-01 10:00:00
# Mailchimp, file names [cleaned_members_export_3f2a.csv]: "File name: cleaned" (1)
Email Address,OPTIN_TIME
gone@example.com,2021-01-01 10:00:00
# Mailchimp, file names [nonsubscribed_email_audience_export_3f2a.csv]: "File name: nonsubscribed" (1)
Email Address,OPTIN_TIME
gone@example.com,
# Ghost: "subscribed_to_emails: false" (1), "deleted_at" (1)
id,email,name,note,subscribed_to_emails,complimentary_plan,stripe_customer_id,created_at,deleted_at,labels,tiers
1,gone1@example.com,Dorothy,,false,false,,2024-01-15T10:00:00.000Z,,,
2,gone2@example.com,Del,,true,false,,2024-01-15T10:00:00.000Z,2024-09-01T00:00:00.000Z,,
3,stays@example.com,Sue,,true,false,,2024-01-15T10:00:00.000Z,,,
# HubSpot: "Unsubscribed from all email" (1), "Opted out of email: Marketing" (1), "Email hard bounce reason" (1), "Email Address Quarantined" (1)
Email,Marketing contact status,Marketing emails bounced,Opted out of SMS,Unsubscribed from all email,Opted out of email: Marketing,Email hard bounce reason,Email Address Quarantined
gone1@example.com,Non-marketing contact,0,false,true,,,
gone2@example.com,Marketing contact,0,false,,TRUE,,false
gone3@example.com,Marketing contact,3,false,,,UNKNOWN_USER,
gone4@example.com,Marketing contact,0,false,false,false,,true
stays@example.com,Marketing contact,1,true,false,false,,false
# HubSpot, internal names: "hs_email_optout" (1), "hs_email_optout_351" (1), "hs_email_bad_address" (1)
email,hs_email_bounce,hs_email_optout,hs_email_optout_351,hs_email_bad_address,hs_emailconfirmationstatus
gone1@example.com,0,true,,,
gone2@example.com,0,false,true,false,
gone3@example.com,0,,,true,
stays@example.com,2,false,false,false,Confirmed
# several columns of status: "unsubscribed" (1), "pending" (1)
Email,Status,Email status,Status
gone1@example.com,active,unsubscribed,active
gone2@example.com,active,subscribed,pending
stays@example.com,active,,active
# Salesforce or Zoho: "Email Opt Out" (2), "HasOptedOutOfEmail" (1)
Email,Email Opt Out,HasOptedOutOfEmail,DoNotCall
gone1@example.com,1,0,0
gone2@example.com,true,,
gone3@example.com,FALSE,TRUE,0
stays@example.com,false,0,1
# spreadsheets in German, French, Spanish and Italian: "Unsubscribed" (4), "Newsletter: FALSCH" (1), "Newsletter: FAUX" (1), "Newsletter: FALSO" (1)
Email;Unsubscribed;Newsletter
gone1@example.com;WAHR;WAHR
gone2@example.com;VRAI;VRAI
gone3@example.com;VERDADERO;VERDADERO
gone4@example.com;VERO;VERO
gone5@example.com;FALSCH;FALSCH
gone6@example.com;FAUX;FAUX
gone7@example.com;FALSO;FALSO
stays@example.com;FALSCH;WAHR
# spreadsheets in Dutch, Polish and Czech: "Unsubscribed" (1), "Newsletter: FAŁSZ" (1)
Email;Unsubscribed;Newsletter
gone1@example.com;PRAVDA;PRAVDA
gone2@example.com;FAŁSZ;FAŁSZ
stays@example.com;ONWAAR;WAAR
# a column about several channels: "Opted out of email and SMS" (1), "Do Not Email/Call" (1)
Email,Opted out of email and SMS,Do Not Email/Call
gone1@example.com,yes,no
gone2@example.com,no,yes
stays@example.com,no,no
# Substack: "email_disabled" (1)
email,active_subscription,email_disabled
gone@example.com,false,true
stays@example.com,false,false
# MailerLite: "Unsubscribed" (1)
Email,Subscribed,Unsubscribed
gone@example.com,2023-01-05 12:00:00,2024-02-06 12:00:00
stays@example.com,2023-01-05 12:00:00,0000-00-00 00:00:00
# Klaviyo: "Email Marketing Consent: UNSUBSCRIBED" (1), "Email Marketing Consent: NEVER_SUBSCRIBED" (1), "Email Suppressions" (1)
Email,Email Marketing Consent,Email Suppressions,SMS Marketing Consent
gone1@example.com,UNSUBSCRIBED,[],SUBSCRIBED
gone2@example.com,NEVER_SUBSCRIBED,[],
gone3@example.com,SUBSCRIBED,HARD_BOUNCE,
stays@example.com,SUBSCRIBED,[],UNSUBSCRIBED
# Brevo: "BLOCKLISTED" (1), "DOUBLE_OPT-IN: 2" (1)
EMAIL;BLOCKLISTED;DOUBLE_OPT-IN
gone1@example.com;Yes;1
gone2@example.com;No;2
stays@example.com;No;1
# Brevo, subscription status: "_SUBSCRIBED: [sms_marketing]" (1), "_BLOCKLISTED" (1)
Contact ID;EMAIL;FIRSTNAME;LASTNAME;ADDED_TIME;MODIFIED_TIME;_listIds;_SUBSCRIBED;_BLOCKLISTED
1;gone1@example.com;Ada;;01-02-2025;01-02-2025;[3];[sms_marketing];
2;gone2@example.com;Eve;;01-02-2025;01-02-2025;[3];;[email_marketing|sms_marketing]
3;stays@example.com;Sue;Stays;01-02-2025;01-02-2025;[3];[email_marketing];[sms_marketing]
# Campaign Monitor: "Unsubscribed" (1), "Bounced" (1)
Email address,Subscribe state
gone1@example.com,Unsubscribed
gone2@example.com,Bounced
stays@example.com,Active
# a column of unknown meaning: "Newsletter state: Disabled" (1), "Newsletter state: Opted-out" (1)
email,Newsletter state
gone1@example.com,Disabled
gone2@example.com,Opted-out
stays@example.com,Bavaria
# Shopify: "Accepts Email Marketing: no" (1)
Email,Accepts Email Marketing,Accepts SMS Marketing
gone@example.com,no,yes
stays@example.com,yes,no
# Dynamics 365: "Do not allow Emails" (1)
Email,Do not allow Emails
gone@example.com,Do Not Allow
stays@example.com,Allow
# our own list of suppressed addresses: "reason: unsubscribed" (1), "reason: by-hand" (1)
email,reason,since,note
gone1@example.com,unsubscribed,2026-11-22T01:05:00.000Z,
gone2@example.com,by-hand,2026-11-22T01:05:00.000Z,
# our own leads: "suppressed" (1), "unverified" (1)
email,state,unsubscribe_url
gone1@example.com,suppressed,https://guide.example.com/unsubscribe?t=1
gone2@example.com,unverified,
stays@example.com,verified,https://guide.example.com/unsubscribe?t=2`;

const imported = async ({ database }: ServerUnderTest) => {
  const rows = await database.db
    .selectFrom('imported_leads')
    .select(['email', 'name', 'company', 'consent_source', 'consent_given_at', 'file_name'])
    .orderBy('email')
    .execute();
  return rows.map((row) => ({ ...row }));
};

const emails = async (server: ServerUnderTest) => (await imported(server)).map(({ email }) => email);

onEachEngine('imports', ({ both: test }) => {
  test('an import adds new people once without making them leads', async (server) => {
    await becomeLead(server, 'lead@example.com');
    await becomeLead(server, 'erased@example.com');
    await server.advance(60);
    await succeeded(desk(server.service, ['erase', 'erased@example.com', '--yes']));
    await suppress(server.database.db, {
      keys: pseudonymsOf(server.service.secrets, 'hand@example.com'),
      reason: 'by-hand',
      email: 'hand@example.com',
      now: server.now(),
    });
    const before = await server.database.db.selectFrom('leads').selectAll().execute();
    const file = [
      'Email Address,First Name,Last Name,Company,OPTIN_TIME,Status',
      ' Ada@Example.com ,Ada,Lovelace,"Engines, Analytical",2024-03-04 10:20:30,subscribed',
      'lead@example.com,Another,Name,Elsewhere,,subscribed',
      'Erased@example.com,Erika,Erased,Gone,,subscribed',
      'ada@example.com,Twice,,,,subscribed,',
      'left@example.com,Lea,Left,,,Unsubscribed',
      'HAND@example.com,Hanna,Hand,,,subscribed',
      'bob@example.com,,,,,subscribed',
      '',
      ',,,,,',
    ].join('\r\n');

    const dry = await succeeded(importFile(server, file, '--dry-run'));
    assert.match(dry.notes, /^2 people would be imported from .*list\.csv\. Nothing was changed\.$/m);
    assert.deepEqual(await imported(server), []);

    const answer = await succeeded(importFile(server, file, '--json'));
    assert.partialDeepStrictEqual(JSON.parse(answer.out), {
      imported: 2,
      alreadyImported: 0,
      verified: 1,
      erased: 1,
      unsubscribed: 1,
      repeated: 1,
      rows: 7,
      suppressed: 1,
    });
    const sentences = [
      '2 people imported from .*, marked as not verified here',
      '1 {2}already verified as a lead, left unchanged',
      '1 {2}erased earlier, not restored',
      '1 {2}suppressed here, left out',
      '1 {2}with a status that does not show consent',
      '1 {2}repeated in the file',
    ];
    for (const sentence of sentences) assert.match(answer.notes, new RegExp(sentence));
    const origin = { consent_source: CONSENT_SOURCE, file_name: 'list.csv' };
    const agreedAt = Date.UTC(2024, 2, 4, 10, 20, 30);
    const ada = { email: 'ada@example.com', name: 'Ada Lovelace', company: 'Engines, Analytical' };
    const bob = { email: 'bob@example.com', name: '', company: '' };
    assert.deepEqual(await imported(server), [
      { ...ada, ...origin, consent_given_at: agreedAt },
      { ...bob, ...origin, consent_given_at: null },
    ]);
    assert.deepEqual(await server.database.db.selectFrom('leads').selectAll().execute(), before);
    assert.equal(await server.countRows('consent_receipts'), 1);
    await succeeded(desk(server.service, ['consent', 'verify']));

    const rows = await imported(server);
    const again = await importFile(server, file.replace('Analytical', 'Other'));
    assert.match(again.notes, /^0 people imported .*\n(.*\n)*  2 {2}already imported/m);
    assert.deepEqual(await imported(server), rows, 'nothing changes');
  });

  test('imported people can be shown, corrected and erased, but have no proof of consent', async (server) => {
    const list = 'email;name;firma\nada@example.com;Ada;Engines\n';
    await importFile(server, `${list}eve@example.com;Eve;Spies\n`);
    await server.advance(60);
    const corrected = await desk(server.service, ['correct', 'ada@example.com', '--name', 'Ada King']);
    assert.match(corrected.out, /Ada, Engines → Ada King, Engines/);
    const answer = await desk(server.service, ['show', 'ada@example.com', '--json']);
    const { timeline } = JSON.parse(answer.out) as { timeline: TimelineEntry[] };
    assert.deepEqual(
      timeline.map(({ what, details }) => [what, details['name'], details['consent came from']]),
      [
        ['was imported from another tool, not verified here', 'Ada', CONSENT_SOURCE],
        ['was corrected by the operator', 'Ada → Ada King', undefined],
      ],
    );
    await importFile(server, list);
    assert.equal((await imported(server))[0]?.name, 'Ada King');
    await refused(
      desk(server.service, ['consent', 'export', 'ada@example.com', '--out', '/dev/null']),
      /^ada@example\.com has not verified a consent here.* To see the stored data, run: show ada@example\.com$/,
    );

    await becomeLead(server, 'eve@example.com');
    const eve = await desk(server.service, ['show', 'eve@example.com']);
    assert.match(eve.out, /was imported .*[^]*became a lead/);

    for (const email of ['ada@example.com', 'eve@example.com']) {
      const erased = await desk(server.service, ['erase', email, '--yes']);
      assert.match(erased.out, /1 imported person/);
    }
    assert.deepEqual(await emails(server), []);
    assert.equal(await server.countRows('imported_corrections'), 0);
    const back = await importFile(server, 'email\nada@example.com\neve@example.com\n');
    assert.match(back.notes, /^ +2 {2}erased earlier, not restored$/m);
    assert.deepEqual(await emails(server), []);
  });

  test('an import adds nobody without a line in the audit log', async (server) => {
    const allow = await refuseWrites(server.database, 'insert on desk_log');
    assert.equal((await importFile(server, 'email\nada@example.com\n')).exitCode, 1);
    await allow();
    assert.deepEqual(await emails(server), []);
    await succeeded(importFile(server, 'email\nada@example.com\n'));
    assert.equal(await server.countRows('desk_log'), 1);
  });

  test('an import of a long file runs in batches and can be resumed', async (server) => {
    const addresses = Array.from({ length: 1_234 }, (_, index) => `p${index}@example.com`);
    await inFolder(async (folder) => {
      const file = path.join(folder, 'long.csv');
      writeFileSync(file, `email\n${addresses.join('\n')}`);
      const run = (replacements: Parameters<typeof desk>[2]) =>
        desk(server.service, ['import', file, '--consent-source', CONSENT_SOURCE], replacements);
      const interrupted = new AbortController();
      const stopped = await run({
        signal: interrupted.signal,
        progress: (line) => {
          if (line === '500 of 1234 people …') interrupted.abort();
        },
      });
      assert.equal(stopped.exitCode, 130);
      assert.equal(await server.countRows('imported_leads'), 500);
      const progress: string[] = [];
      const answer = await succeeded(run({ progress: (line) => void progress.push(line) }));
      assert.match(answer.notes, /^734 people imported .*\n +500 {2}already imported/m);
      assert(progress.includes('1000 of 1234 people …'), progress.join());
    });
    const listed = await desk(server.service, ['leads', '--state', 'imported', '--json']);
    const order = (JSON.parse(listed.out) as { email: string }[]).map(({ email }) => email);
    assert.deepEqual(order, addresses, 'in the order of the file');
  });
});

it('an import on PostgreSQL does not restore a person erased meanwhile', () =>
  withServer({ engine: 'postgres' }, async (server) => {
    await importFile(server, 'email\nada@example.com\n');
    const [erased, brought] = await inTurnBehindLock(server.database, 'ada@example.com', [
      () => desk(server.service, ['erase', 'ada@example.com', '--yes']),
      () => importFile(server, 'email\nada@example.com\neve@example.com\n'),
    ]);
    assert.match(erased.out, /1 imported person/);
    assert.match(brought.notes, /^ +1 {2}erased earlier, not restored$/m);
    assert.deepEqual(await emails(server), ['eve@example.com']);
  }));

onEachEngine('import files', ({ test }) => {
  test('an import reads the separators, byte order marks and UTF-16 of common tools', async (server) => {
    const text = (lines: readonly string[][], separator: string) =>
      lines.map((cells) => cells.join(separator)).join('\n');
    const rows = (email: string) => [
      ['E-Mail', 'Full Name', 'Organization', 'Opt-in date'],
      [email, '"Zoë; Müller, ""Z"""', 'Café', '4.3.2024 07:08'],
    ];
    const utf16 = (content: string) => Buffer.from(content, 'utf16le');
    for (const [name, content] of [
      ['comma', text(rows('comma@example.com'), ',')],
      ['semicolon', text(rows('semicolon@example.com'), ';')],
      ['tab', `\uFEFF${text(rows('tab@example.com'), '\t')}`],
      ['sep', `sep=;\r\n${text(rows('sep@example.com'), ';')}`],
      ['little', utf16(`\uFEFF${text(rows('little@example.com'), '\t')}`)],
      ['bare', utf16(text(rows('bare@example.com'), ','))],
      ['big', utf16(`\uFEFF${text(rows('big@example.com'), ';')}`).swap16()],
    ] as const) {
      await succeeded(importFile(server, content), name);
      const row = (await imported(server)).find(({ email }) => email === `${name}@example.com`);
      assert.deepEqual(
        [row?.name, row?.company, row?.consent_given_at],
        ['Zoë; Müller, "Z"', 'Café', Date.UTC(2024, 2, 4, 7, 8)],
        name,
      );
    }
  });

  test('an import skips people whose status does not show consent', async (server) => {
    const out =
      `Unsubscribed|Never subscribed|NEVER_SUBSCRIBED|non-subscribed|Not confirmed|unconfirmed|Awaiting confirmation
        |Pending|Hard bounce|Soft Bounced|Undeliverable|Invalid|Inactive|Removed|Opted-out|Spam complaint|cancelled|Not yet confirmed
        |Inaktiv|Do not contact|Unsub|Not opt-in|Not a subscriber|Waiting for confirmation|Awaiting opt-in|Deactivated|Withdrawn
        |Revoked|Expired|Abuse|Do-Not-Mail|No consent|Non-marketing contact|Nicht bestätigt|Unbestätigt|Gekündigt|Not  subscribed
        |non.subscribed|In-active|Verified|VIP|✗`.split(/\s*\|/);
    const taken =
      `Subscribed|SUBSCRIBED|Opt-in confirmed|Double opt in verified|Active|Opted-In|Aktiv|Besta\u0308tigt|`.split(
        '|',
      );
    const named = ['Plugin subscriber', 'Confirmed: no bounces', 'Lebanon active'];
    const rows = [...out, ...taken, ...named].map((status, at) => `p${at}@example.com,${status}`);
    const twice = [
      'A@example.com,subscribed',
      'a@example.com,unsubscribed',
      'b@example.com,bounced',
      'b@example.com,',
    ];
    const content = ['email,status', ...rows, ...twice].join('\n');
    const first = await importFile(server, content, '--dry-run', '--json');
    assert.partialDeepStrictEqual(JSON.parse(first.out), {
      unsubscribed: out.length + named.length + twice.length,
      statusesLeftOut: [
        { status: 'Unsubscribed', refusal: 'unsubscribed', count: 2 },
        { status: 'Never subscribed', refusal: null, count: 2 },
        ...named.map((status) => ({ status, count: 1 })),
      ],
    });
    assert.match(first.notes, /^Left out because of their status: "Unsubscribed" \(2\), .* and \d+ more\.$/m);
    const unclear = /^Did people with (.+) agree to receive mail\? .* --take-status "Never subscribed"\.$/m;
    const asked = unclear.exec(first.notes)?.[1] ?? '';
    assert.match(asked, /"Pending", /, first.notes);
    assert.match(asked, /"Never subscribed"/);
    assert.doesNotMatch(asked, /unsub|bounce|opted-out|cancelled|withdrawn/i);
    const options = named.flatMap((status) => ['--take-status', status.toLowerCase()]);
    const answer = await importFile(server, content, ...options);
    const count = out.length + twice.length;
    assert.ok(answer.notes.includes(` ${count}  with a status that does not show consent, left out\n`));
    const expected = [...taken, ...named].map((_, at) => `p${out.length + at}@example.com`);
    assert.deepEqual((await emails(server)).toSorted(), expected.toSorted());
  });

  test('an import skips people whom any column marks as unsubscribed, bounced or opted out', async (server) => {
    for (const file of FILES_OF_TOOLS.split(/^# /m).slice(1)) {
      const [tool = '', ...lines] = file.trimEnd().split('\n');
      const { name = 'list.csv', left = '' } =
        /(?:\[(?<name>.+?)\])?:(?: (?<left>.+))?$/.exec(tool)?.groups ?? {};
      const answer = await succeeded(importNamed(server, name, lines.join('\n')), tool);
      const stays = lines.some((line) => line.includes('stays@')) ? ['stays@example.com'] : [];
      assert.deepEqual(await emails(server), stays, tool);
      const reasons = /^Left out because of their status: (.+)\.$/m.exec(answer.notes)?.[1] ?? '';
      assert.equal(reasons, left, tool);
      await server.database.db.deleteFrom('imported_leads').execute();
    }
    const taken = ['unsubscribed', 'newsletter: weekly'].flatMap((status) => ['--take-status', status]);
    const several = 'email,Unsubscribed,Newsletter\nada@example.com,yes,Weekly\n';
    await succeeded(importFile(server, several, ...taken));
    assert.deepEqual(await emails(server), ['ada@example.com']);
    const file = ['cleaned-up leads.csv', 'email\neve@example.com\n'] as const;
    await importNamed(server, ...file, '--take-status', 'file name: cleaned');
    assert.deepEqual(await emails(server), ['ada@example.com', 'eve@example.com']);
  });

  test('an import recognises columns and words about permission in any spelling, and no others', async (server) => {
    const left =
      `isSubscribed: false / is_subscribed: false / emailOptIn: false / doubleOptIn: false / marketingConsent: false
        / acceptsMarketing: false / can_receive_email_marketing: false / Newsletter abonniert: false / UnSubscribed: yes
        / hasOptedOutOfEmail: 1 / Revoked: yes / Widerruf: ja / Werbesperre: x / Gesperrt: ja / Désinscription: 2024-01-01
        / Consentement: non / Consent withdrawn at: 2024-01-01 / Widerrufen am: 1.2.2024 / Fecha de baja: 2024-01-01
        / subscriptionStatus: pending / Statut: Désabonné / Statut: En attente / email_marketing_consent_state: pending
        / email_marketing_consent.state: not_subscribed / Letters: NonSubscribed / Letters: UnSubscribed
        / Letters: not_subscribed / Letters: HardBounce / Permission: Revoked / Marketing contact status: Non-marketing contact / Profil: De\u0301sabonne\u0301e
        / Estado: Baja / Estado: Dado de baja / Estado: Desuscrito / Stato: Disiscritto / Tags: vip, unsubscribed
        / Tags: vip;unsubscribed / Tags: vip|bounced / Note: Unsubscribed at 2024-01-01 / Note: abgemeldet am 1.2.2024
        / Note: Opted out on 2024-01-01 10:00 / Note: unsubscribed 2024-01-01`.split(/\s*\/ /);
    const kept =
      `Employer: Unsubscribed Ltd / Tags: Unsubscribed Ltd, vip / State: Bavaria / Estado: Baja California
        / Stato: Italia / Notes: was active / Statut: Abonné / Marketing contact status: Marketing contact / isSubscribed: true / emailOptIn: yes / Widerruf: nein
        / Consentimiento: sí / Interests: Sperrholz / Newsletter abonniert: ja / Widerrufsbelehrung akzeptiert: ja
        / SMS opt-out: yes / WhatsAppOptOut: yes
        / UTM Campaign: inactive / Lead Source: cleaned / Lead - Source: unsub / earlier_answers: we; inactive
        / 1. Newsletter: Weekly`.split(/\s*\/ /);
    const rows = [...left, ...kept].map((row) => row.split(': '));
    // One column per row.
    const lines = rows.map(([, cell], at) => `${at}@example.com${';'.repeat(at + 1)}"${cell}"`);
    const headings = rows.map(([heading]) => `"${heading}"`);
    const { notes } = await importFile(server, ['email', ...headings].join(';') + '\n' + lines.join('\n'));
    const found = (await emails(server)).map((email) => rows[Number.parseInt(email, 10)]!.join(': '));
    assert.deepEqual(found.toSorted(), kept.toSorted(), notes);
  });

  test('an import recognises the names of files of unsubscribed people', async (server) => {
    for (const [names, isLeft] of [
      [
        `suppression_spam_reports|export-unsubscribed|hard-bounces|opted-out|do-not-contact|suppression-list|(1) unsubscribed
          |Abgemeldete|Sperrliste|désabonnés|bajas|inactive_subscribers|MyUnsubscribedPeople|archived_members_export_3f2a`,
        true,
      ],
      ['people_cleaned|subscribers-without-bounces|Ohne Abgemeldete|archive', false],
    ] as const) {
      for (const name of names.split(/\s*\|/)) {
        const { notes } = await importNamed(server, `${name}.csv`, 'email\nada@example.com\n', '--dry-run');
        assert.match(notes, isLeft ? /^0 people would/m : /^1 person would/m, name);
      }
    }
  });

  test('an import treats a column "state" as a status if it contains words of a status', async (server) => {
    const states = 'active|pending|blocked|paused|Unconfirmed|CA|Bavaria|New York|';
    const rows = states.split('|').map((state, at) => `${at}@example.com,${state}\n`);
    const { notes } = await importFile(server, `email,state\n${rows.join('')}`);
    assert.equal((await emails(server)).map(([at]) => at).join(''), '05678', notes);
    const file = 'email,state\nada@example.com,pending\n';
    await succeeded(importFile(server, file, '--take-status', 'pending'));
    assert.ok((await emails(server)).includes('ada@example.com'));
  });

  test('an import reads names, companies and dates of consent from the columns of common tools', async (server) => {
    const zero = '0000-00-00 00:00:00';
    const given = (at: number | null) => ({ consent_given_at: at });
    const named = (name: string) => ({ name });
    for (const [headings, cells, person] of [
      ['consent given at', '2024-03-04', given(Date.UTC(2024, 2, 4))],
      ['consent given at', '2024-03-04T10:20:30.123Z', given(Date.UTC(2024, 2, 4, 10, 20, 30))],
      ['consent given at', '2024-03-04T10:20:30+01:00', given(Date.UTC(2024, 2, 4, 9, 20, 30))],
      ['consent given at', '2024/3/4 10:20', given(Date.UTC(2024, 2, 4, 10, 20))],
      ['consent given at', '2024-03-04 10:20:30 UTC', given(Date.UTC(2024, 2, 4, 10, 20, 30))],
      ['consent given at', '13/4/2024', given(Date.UTC(2024, 3, 13))],
      ['consent given at', '4/13/2024 1:05 PM', given(Date.UTC(2024, 3, 13, 13, 5))],
      ['consent given at', '4/13/2024 12:05 AM', given(Date.UTC(2024, 3, 13, 0, 5))],
      ['optin_time,confirm_time', `${zero},2024-03-04`, given(Date.UTC(2024, 2, 4))],
      ['optin_time,confirm_time', `${zero},`, given(null)],
      [
        'Company / Account,consent date',
        '" Engines "," 2024-03-04 "',
        { company: 'Engines', ...given(Date.UTC(2024, 2, 4)) },
      ],
      ['name,first name,last name', '" ","Ada ","Lovelace"', named('Ada Lovelace')],
      ['Name,Last name', 'Ada,Lovelace', named('Ada Lovelace')],
      ['Name,Vorname', 'Lovelace,Ada', named('Ada Lovelace')],
      ['Name,Last name', 'Ada Lovelace,Lovelace', named('Ada Lovelace')],
      ['Name,First name', 'Ada Lovelace,Ada', named('Ada Lovelace')],
      ['Name,First name', 'Ada Lovelace,', named('Ada Lovelace')],
      ['Name,First name', 'ADA,Ada', named('ADA')],
      ['Name,First name', ',Ada', named('Ada')],
      ['Full name,First name', 'Ada Lovelace,Countess', named('Ada Lovelace')],
      ['Name,First name,Last name', 'Ada Lovelace,Countess,King', named('Ada Lovelace')],
      ['First name,Last name', 'Thomas,Thomas', named('Thomas Thomas')],
    ] as const) {
      await succeeded(importFile(server, `email,${headings}\n"ada@example.com ",${cells}\n`), cells);
      assert.partialDeepStrictEqual(await imported(server), [{ email: 'ada@example.com', ...person }], cells);
      await server.database.db.deleteFrom('imported_leads').execute();
    }
  });

  test('an import treats only "no" as a refusal in a column about consent', async (server) => {
    for (const [cells, refusal] of [
      [['No', '0', 'FALSE', 'never'], 'unsubscribed'],
      [['null', 'nil', 'NA', 'none', '-'], null],
      [['[]'], null],
    ] as const) {
      const rows = cells.map((cell, at) => `${at}@example.com,${cell}\n`);
      const file = `email,Newsletter consent\n${rows.join('')}`;
      const { out } = await importFile(server, file, '--dry-run', '--json');
      assert.partialDeepStrictEqual(JSON.parse(out), {
        statusesLeftOut: cells.map((cell) => ({ status: `Newsletter consent: ${cell}`, refusal })),
      });
    }
  });

  test('an import of an exported file skips nobody because of a word in a link', async (server) => {
    const query = 'utm_source=cleaned&utm_campaign=inactive&utm_term=a,unsubscribed&gclid=unsub';
    await becomeLead(server, 'ada@example.com', 1, {
      form: { company: 'Ada; inactive; Ltd' },
      headers: { referer: `http://localhost/?${query}` },
    });
    for (const format of ['csv', ...TOOL_NAMES]) {
      const { out } = await desk(server.service, ['export', '--format', format]);
      const answer = await succeeded(importNamed(server, `leads.${format}`, out, '--json'), format);
      assert.match(answer.out, /"statusesLeftOut": \[\],[^]*"verified": 1,/, format);
    }
  });

  test('an import lists unused columns and counts people without a time of consent', async (server) => {
    const file =
      'Email,OPTIN_TIME,CONFIRM_TIME,Tags,Unsubscribed,SMS opt-out,Email\nada@example.com,2024-03-04,,vip,,,\neve@example.com,,2024-03-05,,no,,\ngus@example.com,,,,,,\n';
    const { out, notes } = await importFile(server, file, '--json');
    assert.partialDeepStrictEqual(JSON.parse(out), {
      columnsUsed: ['Email', 'OPTIN_TIME', 'CONFIRM_TIME', 'Unsubscribed'],
      columnsNotUsed: ['Tags', 'SMS opt-out', 'Email'],
      withoutConsentTime: 1,
    });
    assert.match(notes, /^Columns used: "Email", "OPTIN_TIME", "CONFIRM_TIME", "Unsubscribed"\.$/m);
    assert.match(notes, /^Columns not imported: "Tags", "SMS opt-out", "Email"\.$/m);
    assert.match(
      notes,
      /^The file contains no time of consent for 1 of 3 people\. For them, only the source of consent is stored, so keep/m,
    );
  });

  test('an import reports text that was already garbled in the file', async (server) => {
    const names = ['Müller', 'SÃO', 'MÃ¼ller', 'M\uFFFDller', 'MÃ„RZ', 'Itâ€™s'];
    const file = ['email,name', ...names.map((name, at) => `p${at}@example.com,${name}`)].join('\n');
    const { notes } = await importFile(server, file);
    assert.match(notes, /^6 people imported/m);
    assert.match(notes, /^Letters are garbled .* in 4 names or companies, the first in line 4\. Export/m);
  });

  test('an import skips people named in a bad line, because it might say that they unsubscribed', async (server) => {
    const answer = await succeeded(
      importFile(
        server,
        [
          'email,name,status',
          'ada@example.com,Ada,subscribed',
          'ada@example.com,Lovelace, Ada,unsubscribed',
          'eve@example.com,Eve,subscribed',
          '"Eve, Adams <Eve@Example.com>",unsubscribed,,,x',
          'gus@example.com,Gus,subscribed',
        ].join('\n'),
        '--skip-bad',
      ),
    );
    assert.deepEqual(await emails(server), ['gus@example.com']);
    assert.match(answer.notes, /^ +2 {2}in a bad line, left out\n +2 {2}also in a bad line, left out$/m);
  });

  test('an import of an unreadable file gives the reason and imports nobody, even with --skip-bad', async (server) => {
    const long = 'p,a@example.com\n'.repeat(7_000);
    for (const [content, sentence] of [
      ['', /list\.csv is empty\./],
      [
        'PK\u0003\u0004\u0014',
        /list\.csv is a spreadsheet or a ZIP file\. Save it as CSV, or unpack it first\.$/m,
      ],
      ['[{"email": "ada@example.com"}]', /list\.csv is JSON\. Export the people as CSV\.$/m],
      [
        'ada@example.com,Ada\n',
        /list\.csv has no headings, because its first line contains an e-mail address\. Add/,
      ],
      [
        'name,phone\nAda,1\n',
        /no column of e-mail addresses\. The headings in its first line are "name", "phone"\. Name/,
      ],
      [
        Buffer.from('email,name\nzoe@example.com,Zo\xEB\n', 'latin1'),
        /list\.csv is neither UTF-8 nor UTF-16\. Export it again as "CSV UTF-8"\.$/m,
      ],
      [
        `name,email\n${long}"Ada,b@example.com\n${long}`,
        /cannot be read near line 13251, because a row has .* unclosed quotation mark/,
      ],
    ] as const) {
      const notes = await refused(importFile(server, content, '--skip-bad'), sentence);
      assert.doesNotMatch(notes, /ada@/);
      assert.equal(await server.countRows('imported_leads'), 0);
    }
    const missing = ['import', '/no/such/list.csv', '--consent-source', CONSENT_SOURCE];
    await refused(desk(server.service, missing), /does not exist\. Name the CSV/);
  });
});

it('an import with a bad line imports nobody unless --skip-bad is set', () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    const file = [
      'name,email,consent date,company',
      'Ada,ada@example.com,2024-02-29,Engines',
      'Bob,bob at example,2024-02-29,Engines',
      'Eve,eve@example.com,2023-02-29,Engines',
      `${'x'.repeat(201)},long@example.com,,`,
      '"Two\nlines",lines@example.com,,',
      'No address,,,',
      'Late,late@example.com,2124-01-01,',
      'Slash,slash@example.com,3/4/2024,',
      'Many,many@example.com,,Engines, Ltd',
      '"A\r\nB",crlf@example.com,,',
      'N\0ul,nul@example.com,,',
      'Bidi,bidi@example.com,,\u202Egnp',
    ].join('\n');
    const notes = await refused(importFile(server, file), /^Nothing was imported/m);
    const lines = [
      'Line 3 has an invalid e-mail address.',
      'Line 4 has an invalid date of consent.',
      'Line 5 has a name of more than 200 characters.',
      'Line 6 has a name with line breaks or control characters.',
      'Line 8 has no e-mail address.',
      'Line 9 has a date of consent in the future.',
      'Line 10 has an ambiguous date (use --date-order dmy or mdy).',
      'Line 11 has 5 columns, but the file has 4 headings.',
      'Line 12 has a name with line breaks or control characters.',
      'Line 14 has a name with line breaks or control characters.',
      'Line 15 has a company with line breaks or control characters.',
      'Nothing was imported. Fix these 11 lines, or use --skip-bad to skip bad lines.',
    ];
    assert.deepEqual(notes.split('\n').slice(1), lines);
    assert.doesNotMatch(notes, /example/, 'nobody is named');
    assert.deepEqual(await emails(server), []);
    const taken = await succeeded(importFile(server, file, '--skip-bad', '--date-order', 'dmy'));
    assert.match(taken.notes, /^ +10 {2}in a bad line, left out$/m);
    assert.deepEqual(await emails(server), ['ada@example.com', 'slash@example.com']);
    const [, slash] = await imported(server);
    assert.equal(slash?.consent_given_at, Date.UTC(2024, 3, 3));
  }));
