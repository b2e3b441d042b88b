// Examines one mail of each kind with a spam filter.
import { execFileSync, spawnSync } from 'node:child_process';

import { DEFAULT_CAMPAIGN, GERMAN_CAMPAIGN } from '#testing/built-site.ts';
import { bytesOf, deliverabilityFaults } from '#testing/deliverability.ts';
import { SENDER_DOMAIN, sendEveryMail } from '#testing/every-mail.ts';
import { defineCase } from '#stress/harness/cases.ts';

const CAMPAIGNS = { English: DEFAULT_CAMPAIGN, German: GERMAN_CAMPAIGN };
const MAX_POINTS = 0;
/** A lead with a free-mail address gets the operator's reply there (Reply-To). */
const ACCEPTED: Readonly<Record<string, string>> = { 'new lead': 'FREEMAIL_FORGED_REPLYTO' };

/** The standard test string for spam filters, split so this file does not match. */
const GTUBE = ['XJS*C4JDBQADN1.NSBN3*2IDNEN', 'GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'].join('*');

export const mails = defineCase({}, async (trial) => {
  const rows = trial.rows();
  const isInstalled = spawnSync('spamassassin', ['--version']).status === 0;
  if (!isInstalled)
    process.stderr.write(
      '\nSPAMASSASSIN IS NOT INSTALLED: SCORES ARE NOT CHECKED. Install it with apt-get install spamassassin.\n\n',
    );
  else if (scoreOf(`Subject: Control\r\nDate: ${new Date().toUTCString()}\r\n\r\n${GTUBE}\r\n`).points < 5)
    throw new Error(
      'SpamAssassin does not recognise spam, because it has no rules. Run sa-update, or reinstall it.',
    );
  for (const [language, campaign] of Object.entries(CAMPAIGNS)) {
    const { mails: all, resolver } = await sendEveryMail(campaign);
    for (const sent of all) {
      const what = `${sent.name} (${language})`;
      for (const fault of await deliverabilityFaults(sent, resolver))
        trial.expect(false, `${what}: it ${fault}.`);
      const size = `${(bytesOf(sent) / 1000).toFixed(1)} kB`;
      if (!isInstalled) {
        rows.add({ mail: what, points: 'not taken', rules: '', size });
        continue;
      }
      const { points, hits } = scoreOf(sent.mail.raw);
      const accepted = hits.find(({ rule }) => rule === ACCEPTED[sent.name])?.points ?? 0;
      const rules = hits.map((hit) => `${hit.rule} ${hit.points}`).join(', ');
      trial.expect(points - accepted <= MAX_POINTS, `${what} scores ${points}: ${rules}.`);
      rows.add({ mail: what, points, rules, size });
    }
  }
  return null;
});

type Hit = { readonly points: number; readonly rule: string };
type Score = { readonly points: number; readonly hits: readonly Hit[] };

/**
 * The recipient's server adds this header, which the filter's rules about a mail's route need. It cannot contain an IP address of
 * RFC 5737, because the filter knows that those are not real.
 */
const RECEIVED = `Received: from mail.${SENDER_DOMAIN} (mail.${SENDER_DOMAIN} [93.184.215.14])
	by mx.recipient.example (Postfix) with ESMTPS id 4Xq1Y23z4Yz9vHf; `.replaceAll('\n', '\r\n');

/** Runs only local tests, without an operator's own rules. */
function scoreOf(raw: string): Score {
  const date = /^Date: (.*)\r$/m.exec(raw)?.[1] ?? '';
  const input = `${RECEIVED}${date}\r\n${raw}`;
  const output = execFileSync('spamassassin', ['-L', '-t', '-x'], { input, encoding: 'utf8' });
  const details = output.slice(output.lastIndexOf('Content analysis details:'));
  const points = /\((-?[\d.]+) points/.exec(details)?.[1];
  if (points === undefined) throw new Error(`SpamAssassin printed no score:\n${output}`);
  const hits = [...details.matchAll(/^\s*(-?\d+\.\d+)\s+([A-Z][A-Z\d_]+)/gm)].map(([, score, rule]) => ({
    points: Number(score),
    rule: rule ?? '',
  }));
  return { points: Number(points), hits };
}
