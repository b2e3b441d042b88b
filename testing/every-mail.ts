// Sends and signs every kind of mail with the real mailer, to a real mail server without 8BITMIME and SMTPUTF8.
import { generateKeyPairSync } from 'node:crypto';
import { appendFileSync, cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { createDigestQueuer } from '#server/housekeeping/lead-digests.ts';
import { API, VISIT_HEADER } from '#shared/api.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { inFolder } from '#testing/folder.ts';
import type { ReceivedMail } from '#testing/inbox.ts';
import { seePage } from '#testing/see-page.ts';
import { createVisitor, filledForm, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';

const OPERATOR = 'you@example.com';
const ADA = 'ada.lovelace@gmail.com';
/** After this time, the breaker's cached state has expired. */
const BREAKER_CACHE_SECONDS = 3;

export type SentMail = {
  readonly name: string;
  /** True if its recipient agreed to it and can unsubscribe. */
  readonly isForList: boolean;
  readonly to: string;
  readonly personal: readonly string[];
  readonly mail: ReceivedMail;
};

export const SENDER_DOMAIN = 'example.com';
export const PAGE = 'https://guide.example.com';
export const DESK = 'https://desk.example.com';

export type EveryMail = {
  readonly mails: readonly SentMail[];
  readonly resolver: (name: string, type: string) => Promise<string[][]>;
};

export const sendEveryMail = (campaign: string): Promise<EveryMail> =>
  inFolder(async (folder) => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const keyFile = path.join(folder, 'dkim.pem');
    writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    const withFile = path.join(folder, 'campaign');
    cpSync(campaign, withFile, { recursive: true });
    appendFileSync(path.join(withFile, 'emails', 'guide.yaml'), '\nattachment: guide.pdf\n');
    writeFileSync(
      path.join(withFile, 'article', 'guide.pdf'),
      Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(200_000, 7)]),
    );

    const settings = {
      PUBLIC_URL: PAGE,
      DESK_URL: DESK,
      DESK_PEOPLE: OPERATOR,
      TRUST_PROXY: '1',
      MAIL_FROM: `Guide <guide@${SENDER_DOMAIN}>`,
      OPERATOR_EMAIL: OPERATOR,
      DKIM_DOMAIN: SENDER_DOMAIN,
      DKIM_SELECTOR: 'guide',
      DKIM_PRIVATE_KEY_FILE: keyFile,
      LEADS_PER_IP_PER_HOUR: '0',
      FREE_MAIL: 'flag',
    };
    const mails: SentMail[] = [];
    const inbox = { sevenBit: true };
    const send = (env: Readonly<Record<string, string>>, work: (server: ServerUnderTest) => Promise<void>) =>
      withServer({ engine: 'sqlite', env: { ...settings, ...env }, inbox }, work);

    await send({ CAMPAIGN_FOLDER: campaign, GUIDE_EMAIL: 'link', NEW_LEAD_EMAIL: 'each' }, async (server) => {
      const ada = await newLead(server, ADA, 'newsletter');
      mails.push({ ...TO_ADA, name: 'code', mail: ada.code });
      const guide = await server.inbox.waitForMail(ADA, 2);
      mails.push({ ...TO_ADA, name: 'guide, link', isForList: true, mail: guide });
      mails.push(toOperator('new lead', await server.inbox.waitForMail(OPERATOR)));
    });

    await send(
      {
        CAMPAIGN_FOLDER: withFile,
        GUIDE_EMAIL: 'attachment',
        NEW_LEAD_EMAIL: 'daily',
        BREAKER_CODES_PER_MINUTE: '7',
      },
      async (server) => {
        await seePage(server, 'newsletter', {
          times: 42,
          steps: ['opened', 'quarter', 'half'],
          reported: 14,
        });
        await seePage(server, 'banner', { times: 9, steps: ['opened'], reported: 3 });
        await newLead(server, ADA, 'newsletter');
        const guide = await server.inbox.waitForMail(ADA, 2);
        mails.push({ ...TO_ADA, name: 'guide, attached', isForList: true, mail: guide });
        await newLead(server, 'grace@example.net', 'newsletter');
        await newLead(server, 'edsger@example.org');
        for (let index = 0; index < 6; index += 1) {
          await server.advance(BREAKER_CACHE_SECONDS);
          await createVisitor(server, '198.51.100.7').post(
            API.leads,
            filledForm({ email: `stranger-${index}@example.net` }),
          );
        }
        mails.push(toOperator('breaker notice', await server.inbox.waitForMail(OPERATOR)));
        await server.advance(86_400);
        mails.push(toOperator('digest', await sendDigest(server, 2)));
      },
    );

    const p = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
    return {
      mails,
      resolver: async (name, type) => {
        if (type === 'TXT' && name === `guide._domainkey.${SENDER_DOMAIN}`)
          return [[`v=DKIM1; k=rsa; p=${p}`]];
        throw Object.assign(new Error('none'), { code: 'ENOTFOUND' });
      },
    };
  });

const PERSONAL = ['Lovelace', 'Analytical', 'ada.lovelace', 'gmail'];
const TO_ADA = { isForList: false, to: ADA, personal: PERSONAL };
const toOperator = (name: string, mail: ReceivedMail): SentMail => ({
  name,
  isForList: false,
  to: OPERATOR,
  personal: [...PERSONAL, 'you'],
  mail,
});

const newLead = (server: ServerUnderTest, email: string, source?: string) =>
  becomeLead(server, email, 1, {
    headers: source === undefined ? {} : { [VISIT_HEADER]: `last=utm_source%3D${source}` },
  });

async function sendDigest({ database, config, service, inbox, wakeWorker }: ServerUnderTest, count: number) {
  await createDigestQueuer({ database, config, clock: service.clock })();
  wakeWorker();
  return inbox.waitForMail(OPERATOR, count);
}
