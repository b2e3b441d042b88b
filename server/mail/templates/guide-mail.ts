// The guide mail contains a link that works on any device, or an attached file. It also contains an unsubscribe link,
// because its reader agreed to receive mail. It has no tracking pixel.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { domainToUnicode } from 'node:url';

import * as z from 'zod/mini';

import { GUIDE_LINK_DAYS, guideUrl, unsubscribeUrl } from '#server/secrets/mail-links.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { leadExists } from '#server/db/tables/leads.ts';
import { addMail, lanesOf, NETWORK_OF_GUIDES } from '#server/jobs/mail-jobs.ts';
import {
  anchor,
  type Block,
  button,
  composeLetter,
  type Letter,
  type LetterKind,
  type Branding,
  brandingOf,
  linesInHtml,
  paragraph,
} from '#server/mail/templates/letter.ts';
import { DAY_MS, MINUTE_MS } from '#server/platform/time.ts';
import type { GuideEmail } from '#shared/campaign-schema.ts';
import { fill } from '#shared/words.ts';

/** How much later than codes the guide is sent, because visitors wait for codes. */
const BEHIND_CODES_MS = 10 * MINUTE_MS;

export const GUIDE_KIND = 'guide';
const Payload = z.object({ leadId: z.string() });

export async function queueGuideMail(
  tx: Db,
  { id, leadId, recipient, now }: { id: string; leadId: string; recipient: string; now: number },
): Promise<void> {
  const place = { ...lanesOf(NETWORK_OF_GUIDES, recipient), turnAt: now + BEHIND_CODES_MS };
  await addMail(tx, { id, recipient, place, now, kind: GUIDE_KIND, payload: { leadId } });
}

export const guideKind: LetterKind = {
  maxAgeMs: () => DAY_MS,
  respectsSuppression: true,

  compose: async ({ database: { db }, secrets, config, campaign }, row, now) => {
    const { guideEmail, publicUrl } = config;
    const { leadId } = Payload.parse(JSON.parse(row.payload));
    if (guideEmail === 'off' || !(await leadExists(db, leadId))) return null;
    const branding = { ...brandingOf(campaign), postalAddress: campaign.site.postalAddress };
    const unsubscribe = unsubscribeUrl(secrets, publicUrl, leadId);
    const attachment = guideEmail === 'link' ? null : campaign.guideFile;
    const link = attachment === null ? guideUrl(secrets, publicUrl, leadId, now) : null;
    const host = new URL(publicUrl).hostname;
    return {
      ...composeGuideEmail(campaign.guideEmail, {
        ...branding,
        host: domainToUnicode(host),
        link,
        unsubscribe,
      }),
      list: { name: branding.title, host, unsubscribe },
      ...(attachment !== null && {
        attachment: { filename: path.basename(attachment), content: await readFile(attachment) },
      }),
    };
  },
};

type Facts = Branding & {
  readonly postalAddress: string | undefined;
  readonly host: string;
  /** Null if the guide is attached. */
  readonly link: string | null;
  readonly unsubscribe: string;
};

export function composeGuideEmail(words: GuideEmail, facts: Facts): Letter {
  const { title, accent, postalAddress, host, link, unsubscribe } = facts;
  const filled = (text: string) => fill(text, { title, host, days: String(GUIDE_LINK_DAYS) });
  const greeting = filled(words.greeting);
  return composeLetter(facts, {
    subject: filled(words.subject),
    preview: greeting,
    headline: title,
    blocks: [
      paragraph(greeting),
      ...(words.inside === undefined ? [] : [paragraph(filled(words.inside))]),
      ...(link === null ? [] : [button(filled(words.link), link, accent)]),
      paragraph(filled(link === null ? words.attached : words.linkNote)),
    ],
    footnote: unsubscribeFootnote(filled(words.why), filled(words.unsubscribe), unsubscribe, postalAddress),
  });
}

const unsubscribeFootnote = (why: string, label: string, unsubscribe: string, postalAddress = ''): Block => ({
  text: `${why}\n${label}: ${unsubscribe}${postalAddress && `\n\n${postalAddress}`}`,
  html: `${linesInHtml(why)}<br>${anchor(unsubscribe, label)}${postalAddress && `<br><br>${linesInHtml(postalAddress)}`}`,
});
