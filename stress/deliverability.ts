// Examines one mail of each kind with a spam filter. Usage: deliverability.ts [--keep FOLDER] (keeps the mails there)
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { DEFAULT_CAMPAIGN, GERMAN_CAMPAIGN } from '#testing/built-site.ts';
import { bytesOf, deliverabilityFaults } from '#testing/deliverability.ts';
import { SENDER_DOMAIN, sendEveryMail, type SentMail } from '#testing/every-mail.ts';
import { conclude } from '#stress/harness/proof.ts';

const CAMPAIGNS = { English: DEFAULT_CAMPAIGN, German: GERMAN_CAMPAIGN };
const MOST_POINTS = 0;
/** A lead with a free-mail address gets the operator's reply there (Reply-To). */
const ACCEPTED: Readonly<Record<string, string>> = { 'new lead': 'FREEMAIL_FORGED_REPLYTO' };

/** The standard test string for spam filters, split so this file does not match. */
const GTUBE = ['XJS*C4JDBQADN1.NSBN3*2IDNEN', 'GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'].join('*');

const keepIn = process.argv[2] === '--keep' ? process.argv[3] : undefined;

type Hit = { readonly points: number; readonly rule: string };
type Score = { readonly points: number; readonly hits: readonly Hit[] };

function filterVersion(): string | null {
  const { status, stdout } = spawnSync('spamassassin', ['--version'], { encoding: 'utf8' });
  return status === 0 ? (/SpamAssassin version (\S+)/.exec(stdout)?.[1] ?? null) : null;
}

/**
 * The recipient's server adds this header. The filter's rules about a mail's route need it, and recognise that the addresses of RFC 5737
 * are not real.
 */
const RECEIVED = `Received: from mail.${SENDER_DOMAIN} (mail.${SENDER_DOMAIN} [93.184.215.14])
	by mx.recipient.example (Postfix) with ESMTPS id 4Xq1Y23z4Yz9vHf; `.replaceAll('\n', '\r\n');

/** Runs only local tests, without an operator's own rules. */
function scoreOf(raw: string): Score {
  const date = /^Date: (.*)\r$/m.exec(raw)?.[1] ?? '';
  const input = `${RECEIVED}${date}\r\n${raw}`;
  const said = execFileSync('spamassassin', ['-L', '-t', '-x'], { input, encoding: 'utf8' });
  const details = said.slice(said.lastIndexOf('Content analysis details:'));
  const points = /\((-?[\d.]+) points/.exec(details)?.[1];
  if (points === undefined) throw new Error(`SpamAssassin printed no score:\n${said}`);
  const hits = [...details.matchAll(/^\s*(-?\d+\.\d+)\s+([A-Z][A-Z\d_]+)/gm)].map(([, score, rule]) => ({
    points: Number(score),
    rule: rule ?? '',
  }));
  return { points: Number(points), hits };
}

function keep(language: string, { name, mail }: SentMail): void {
  if (keepIn === undefined) return;
  mkdirSync(keepIn, { recursive: true });
  const file = path.join(keepIn, `${language} ${name}`.toLowerCase().replaceAll(/\W+/g, '-'));
  writeFileSync(`${file}.eml`, mail.raw);
  writeFileSync(`${file}.html`, mail.parsed.html ?? '');
  writeFileSync(`${file}.txt`, mail.parsed.text ?? '');
}

const signed = (points: number): string => (points === 0 ? '0' : points.toFixed(1));

const version = filterVersion();
if (version === null)
  process.stderr.write(
    '\nSPAMASSASSIN IS NOT INSTALLED: SCORES ARE NOT CHECKED. Install it with apt-get install spamassassin.\n\n',
  );
else if (scoreOf(`Subject: Control\r\nDate: ${new Date().toUTCString()}\r\n\r\n${GTUBE}\r\n`).points < 5)
  throw new Error(
    'SpamAssassin does not recognise spam, because it has no rules. Run sa-update, or reinstall it.',
  );
const complaints: string[] = [];
for (const [language, campaign] of Object.entries(CAMPAIGNS)) {
  const { mails, resolver } = await sendEveryMail(campaign);
  for (const sent of mails) {
    keep(language, sent);
    const what = `${sent.name} (${language})`;
    for (const fault of await deliverabilityFaults(sent, resolver)) complaints.push(`${what}: it ${fault}.`);
    const score = version === null ? null : scoreOf(sent.mail.raw);
    const accepted = score?.hits.find(({ rule }) => rule === ACCEPTED[sent.name])?.points ?? 0;
    if (score !== null && score.points - accepted > MOST_POINTS)
      complaints.push(`${what} scores ${score.points}: ${score.hits.map(({ rule }) => rule).join(' ')}.`);
    const cells = [
      what,
      score === null ? 'not taken' : signed(score.points),
      score === null ? '' : score.hits.map(({ points, rule }) => `${rule} ${signed(points)}`).join(', '),
      `${(bytesOf(sent) / 1000).toFixed(1)} kB`,
    ];
    process.stdout.write(`${cells.join(' | ')}\n`);
  }
}
conclude(complaints);
