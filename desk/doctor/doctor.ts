// Runs all examinations in parallel. Changes nothing, and does not use the service, which may fail to open.
import { isIP } from 'node:net';

import {
  campaignMistakes,
  readCampaign,
  wordsMissingFor,
  type CampaignResult,
} from '#server/campaign/campaign.ts';
import { campaignWarnings, unlistedPage } from '#server/campaign/campaign-warnings.ts';
import { sampleOnPage } from '#server/campaign/sample.ts';
import type { Config } from '#server/settings/settings.ts';
import { examineBackup, examineDisk, examineFiles, examineSecret } from '#desk/doctor/data-folder.ts';
import {
  examineClock,
  examineDamage,
  judgeRefusals,
  judgeWebhooks,
  examineDatabase,
} from '#desk/doctor/database.ts';
import { examineDkim } from '#desk/doctor/dkim.ts';
import { examineDmarc } from '#desk/doctor/dmarc.ts';
import { createDns, type Dns } from '#server/platform/dns.ts';
import { dnsDomainOf } from '#desk/doctor/domains.ts';
import { about, reasonOf, limitTime, type Findings } from '#desk/doctor/finding.ts';
import type { Finding } from '#desk/endpoints/figures.ts';
import { examineMailAccount, sendSample } from '#desk/doctor/mail-account.ts';
import { examineMailExchange } from '#desk/doctor/mail-exchange.ts';
import { examinePublicUrl, examinePage } from '#desk/doctor/page.ts';
import { examineReverseDns } from '#desk/doctor/reverse-dns.ts';
import { examineSpf } from '#desk/doctor/spf.ts';
import { senderAddress } from '#server/mail/mailer.ts';
import { bareHost, isLoopback } from '#server/platform/ip-addresses.ts';
import type { readSettings, Settings } from '#server/settings/env-file.ts';

const LIMIT_MS = 20_000;
const GRACE_MS = 2_000;

export type DoctorTarget = {
  readonly settings: ReturnType<typeof readSettings>;
  readonly campaignFolder: string;
  readonly dnsServers?: readonly string[] | undefined;
  readonly sampleTo: string | null;
  readonly now: number;
  readonly signal: AbortSignal;
};

type Examination = readonly [check: string, result: Findings | Promise<Findings>];

export async function examine(target: DoctorTarget): Promise<readonly Finding[]> {
  const { settings, campaignFolder, sampleTo } = target;
  const words = readWords(campaignFolder);
  const findings = [...judgeSettings(settings, words), ...judgeWords(words, settings, campaignFolder)];
  if (settings.type === 'settings') return [...findings, ...(await examineInstance(settings, words, target))];
  return [
    ...findings,
    about('other checks').note(
      'Page, database, disk, secret, mail and DNS were not checked. Fix the settings first.',
    ),
    ...(sampleTo === null ? [] : [about('sample').problem('No sample was sent. Fix the settings first.')]),
  ];
}

async function examineInstance(
  { config, folder }: Settings,
  words: CampaignResult,
  { dnsServers, sampleTo, now, signal: cancelled }: DoctorTarget,
): Promise<Finding[]> {
  const signal = AbortSignal.any([cancelled, AbortSignal.timeout(LIMIT_MS)]);
  const { database, mail } = config;
  const campaign = words.type === 'campaign' ? words.campaign : null;
  const title = campaign?.site.title ?? new URL(config.publicUrl).host;
  const dns = createDns(dnsServers, signal);
  const databaseExamination = examineDatabase(database);
  const databaseState = databaseExamination.then(({ state }) => state);
  const examinations: readonly Examination[] = [
    ['page', examinePage(config, signal)],
    ['address', examinePublicUrl(config, { dns, now, signal })],
    ['database', databaseExamination.then(({ findings }) => findings)],
    ['disk', examineDisk(database, folder)],
    ['clock', databaseState.then((state) => examineClock(state, now))],
    ['secret', databaseState.then((state) => examineSecret(config, { folder, state }))],
    // Runs after the check of the database, which may create files.
    ['files', databaseState.then(() => examineFiles(config, folder))],
    ['backup', examineBackup(database, { folder, now })],
    ['webhooks', databaseState.then((state) => judgeWebhooks(config, state))],
    ['mail account', examineMailAccount(mail, { publicUrl: config.publicUrl, signal })],
    ['mail account', databaseState.then(judgeRefusals)],
    ...examineSender(config, { dns, freeMailDomains: campaign?.freeMailDomains ?? new Set() }),
    ...(sampleTo === null
      ? []
      : ([['sample', sendSample(config, { to: sampleTo, title, folder, signal })]] as const)),
  ];
  const found = await Promise.all(
    examinations.map(([check, examination]) => limitTime(check, LIMIT_MS + GRACE_MS, examination)),
  );
  if (database.engine === 'postgres' || (await databaseState) === null) return found.flat();
  // Last, because it blocks the event loop.
  return [...found, await limitTime('database', LIMIT_MS, examineDamage(database.file))].flat();
}

function judgeSettings(settings: DoctorTarget['settings'], words: CampaignResult): Finding[] {
  const { ok, warning, problem } = about('settings');
  if (settings.type === 'mistakes') return settings.mistakes.map((mistake) => problem(mistake));
  const { config, warnings } = settings;
  const findings = [
    ...wordsMissingFor(config, words).map((sentence) => problem(sentence)),
    ...warnings.map((sentence) => warning(sentence)),
  ];
  if (!config.secure && !isLoopback(new URL(config.publicUrl).hostname))
    findings.push(
      warning(
        'PUBLIC_URL does not use https, so others on the network can read what visitors type. Set up a proxy with https (docs/install.md).',
      ),
    );
  return findings.length > 0 ? findings : [ok('All settings are valid.')];
}

function readWords(folder: string): CampaignResult {
  try {
    const mistakes = campaignMistakes(folder);
    return mistakes.length > 0 ? { type: 'mistakes', mistakes } : readCampaign(folder);
  } catch (error) {
    return { type: 'mistakes', mistakes: [`The words could not be read: ${reasonOf(error)}`] };
  }
}

function judgeWords(words: CampaignResult, settings: DoctorTarget['settings'], folder: string): Finding[] {
  const { ok, note, warning, problem } = about('words');
  if (words.type === 'mistakes') return words.mistakes.map((mistake) => problem(mistake));
  const { site } = words.campaign;
  const emptyLinks = site.footerLinks.filter(({ href }) => href === '#').map(({ label }) => label);
  const findings = [
    ok(`The words in ${folder} are valid.`),
    ...campaignWarnings(folder).map((sentence) => warning(sentence)),
    ...[...sampleOnPage(folder), ...unlistedPage(folder)].map((sentence) => note(sentence)),
  ];
  if (emptyLinks.length > 0)
    findings.push(
      note(
        `These footer links lead nowhere: ${emptyLinks.join(', ')}. Set their URLs in site.yaml (footerLinks).`,
      ),
    );
  if (settings.type === 'mistakes') return findings;
  const isMailed = settings.config.guideEmail !== 'off';
  if (!isMailed && site.afterCode !== undefined)
    findings.push(
      warning(
        `Visitors are sent to ${site.afterCode} after the code (afterCode in site.yaml), and no e-mail brings them back to the guide. Set GUIDE_EMAIL=link.`,
      ),
    );
  if (isMailed && site.postalAddress === undefined)
    findings.push(
      warning(
        'The guide e-mail (GUIDE_EMAIL) has no postal address, which the USA (CAN-SPAM) and other countries require in advertising mail. Add yours to site.yaml (postalAddress).',
      ),
    );
  return findings;
}

function examineSender(
  config: Config,
  { dns, freeMailDomains }: { dns: Dns; freeMailDomains: ReadonlySet<string> },
): readonly Examination[] {
  const { mail } = config;
  const sender = about('sender');
  const from = senderAddress(config);
  const domain = dnsDomainOf(from);
  const findings: Finding[] = [];
  if (config.mailFrom === null)
    findings.push(
      sender.warning(
        `MAIL_FROM is not set, so mail comes from ${from}. Set it to an address at your domain, such as Guide <guide@example.com>.`,
      ),
    );
  const found = [['sender', findings]] as const;
  if (isIP(bareHost(domain)) !== 0 || !domain.includes('.') || isLoopback(domain)) {
    findings.push(
      (config.mailFrom === null ? sender.note : sender.problem)(
        `${domain} is not a public domain name, so mail servers will not accept mail from ${from}, and DNS was not checked. Set MAIL_FROM to an address at your domain.`,
      ),
    );
    return found;
  }
  // Nobody else can publish the DNS records of a provider.
  if (freeMailDomains.has(domain)) {
    findings.push(
      sender.warning(
        `${domain} is a free mail provider. Mail from there arrives only through the provider’s own mail server. Set MAIL_FROM to an address at your domain, or SMTP_URL to that server.`,
      ),
    );
    return found;
  }
  if (config.mailFrom !== null) findings.push(sender.ok(`Mail comes from ${from}.`));
  // SPF checks the envelope sender (RFC 7208, section 2.4).
  const returnDomain = config.bounceDomain ?? domain;
  if (returnDomain !== domain)
    findings.push(
      sender.note(
        `Bounces go to ${returnDomain} (BOUNCE_DOMAIN). This domain needs its own MX record, and an SPF record that lists the machines that send for you, because mail servers check it instead of ${domain}.`,
      ),
    );
  const dkim = mail.kind === 'smtp' ? mail.dkim : null;
  const smtpHost = mail.kind === 'smtp' ? bareHost(new URL(mail.url).hostname) : null;
  // A mail server on this machine has no public name.
  const mailHost = smtpHost !== null && isLoopback(smtpHost) ? null : smtpHost;
  return [
    ...found,
    ...[...new Set([domain, returnDomain])].map(
      (name) => ['MX', examineMailExchange(dns, { domain: name, mailHost })] as const,
    ),
    ['SPF', examineSpf(dns, returnDomain)],
    ['DKIM', examineDkim(dns, dkim)],
    ['DMARC', examineDmarc(dns, { domain, dkimDomain: dkim === null ? null : dnsDomainOf(dkim.domainName) })],
    ['reverse DNS', examineReverseDns(dns, { domain, mailHost })],
  ];
}
