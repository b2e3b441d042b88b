import { authenticate } from 'mailauth';

import { DESK, PAGE, SENDER_DOMAIN, type EveryMail, type SentMail } from '#testing/every-mail.ts';
import { words } from '#testing/words.ts';

/** Gmail clips longer mail. */
const MAX_BYTES = 100_000;
/** RFC 5322, section 2.1.1. */
const MAX_OCTETS_IN_LINE = 998;

export async function deliverabilityFaults(
  sent: SentMail,
  resolver: EveryMail['resolver'],
): Promise<readonly string[]> {
  return [
    ...formFaults(sent),
    ...headerFaults(sent),
    ...contentFaults(sent),
    ...(await signatureFaults(sent, resolver)),
  ];
}

const faultIf = (applies: boolean, fault: string): string[] => (applies ? [fault] : []);

export const bytesOf = ({ mail }: SentMail): number =>
  Buffer.byteLength(mail.raw) -
  mail.parsed.attachments.reduce((sum, each) => sum + inBase64(each.content), 0);

const inBase64 = (content: string | ArrayBuffer | Uint8Array): number =>
  // The size of base64 in lines of 76 characters plus CRLF.
  Math.ceil((Buffer.from(content as ArrayBuffer).byteLength / 57) * 78);

function formFaults(sent: SentMail): string[] {
  const { raw } = sent.mail;
  const lines = raw.split('\r\n');
  return [
    ...faultIf(/[^\t\r\n\x20-\x7e]/.test(raw), 'is not plain ASCII on the wire: it needs 8BITMIME'),
    ...faultIf(/(?<!\r)\n|\r(?!\n)/.test(raw), 'has a line that does not end with CR LF'),
    ...faultIf(
      lines.some((line) => Buffer.byteLength(line) > MAX_OCTETS_IN_LINE),
      `has a line of more than ${MAX_OCTETS_IN_LINE} octets`,
    ),
    ...faultIf(bytesOf(sent) > MAX_BYTES, `is larger than ${MAX_BYTES / 1000} kB`),
  ];
}

function headerFaults({ mail, to, isForList, personal }: SentMail): string[] {
  const { headers } = mail.parsed;
  const all = (name: string) => headers.filter(({ key }) => key === name).map(({ value }) => value);
  const one = (name: string) => all(name).join('\n');
  const once = ['from', 'to', 'date', 'subject', 'message-id', 'mime-version', 'content-type'];
  const feedback = one('feedback-id');
  const listed = ['list-id', 'list-unsubscribe', 'list-unsubscribe-post'];
  return [
    ...once.filter((name) => all(name).length !== 1).map((name) => `has ${all(name).length} headers ${name}`),
    ...faultIf(Number.isNaN(Date.parse(one('date'))), 'has an invalid Date'),
    ...faultIf(mail.parsed.to?.[0]?.address !== to, 'is not addressed To its recipient'),
    ...faultIf(mail.parsed.from?.address?.endsWith(`@${SENDER_DOMAIN}`) !== true, 'is not From our domain'),
    ...faultIf(
      !/^<[^<>\s@]+@example\.com>$/.test(one('message-id')),
      'has a Message-ID that is not under our domain',
    ),
    ...faultIf(one('auto-submitted') !== 'auto-generated', 'has no Auto-Submitted header'),
    ...faultIf(
      !/^[\w-]+:[\w-]+:[\w-]+:[a-z\d]{5,15}$/.test(feedback),
      'has no Feedback-ID in the format of Gmail',
    ),
    ...personal
      .filter((word) => feedback.toLowerCase().includes(word.toLowerCase()))
      .map((word) => `has "${word}" in its Feedback-ID`),
    ...listed
      .filter((name) => (all(name).length === 1) !== isForList)
      .map((name) => (isForList ? `has no ${name}` : `has a ${name} but is not for a list`)),
  ];
}

function contentFaults({ mail }: SentMail): string[] {
  const { text = '', html = '' } = mail.parsed;
  const [, preview = ''] = PREVIEW.exec(html) ?? [];
  const body = html.replace(/^[\s\S]*?<body\b/, '<body').replace(PREVIEW, '');
  const inSubject = new Set(wordsOf(mail.parsed.subject ?? '').split(' '));
  const inPreview = wordsOf(decoded(preview)).split(' ');
  const [inText, inHtml] = [wordsOf(withoutLinks(text)), wordsOf(readable(body))];
  const hrefs = [...body.matchAll(/\bhref="([^"]*)"/g)].map(([, href = '']) => decoded(href));
  const links = hrefs.filter((href) => /^https?:/.test(href));
  const mailtoAddresses = hrefs.filter((href) => href.startsWith('mailto:')).map((href) => href.slice(7));
  return [
    ...faultIf(!/multipart\/alternative/i.test(mail.raw), 'has HTML but no plain text'),
    ...faultIf(text.trim() === '' || html.trim() === '', 'has an empty part'),
    ...faultIf(
      inPreview.filter((word) => inSubject.has(word)).length > inPreview.length / 2,
      `has a preview that repeats its subject: ${inPreview.join(' ')}`,
    ),
    ...faultIf(inPreview.join('') === '', 'has no preview'),
    ...faultIf(inText !== inHtml, `says different things in plain text and HTML:\n${inText}\n${inHtml}`),
    ...faultIf(
      linksIn(text).toSorted().join('\n') !== links.toSorted().join('\n'),
      'has different links in plain text and HTML',
    ),
    ...mailtoAddresses
      .filter((address) => !text.includes(decodeURIComponent(address)))
      .map((address) => `has ${address} only in HTML`),
    ...links
      .filter((link) => !link.startsWith(`${PAGE}/`) && !link.startsWith(`${DESK}/`))
      .map((link) => `links to ${link}, which is not ours`),
    ...hrefs.filter((href) => !/^(https?|mailto):/.test(href)).map((href) => `has a link "${href}"`),
    ...faultIf(
      /<(img|picture|svg|video|audio|iframe|object|embed|script|link|form|base|style)\b|\b(src|srcset|background|poster|on\w+)\s*=|url\(|@import/i.test(
        html,
      ),
      'has a picture, script or other external content',
    ),
    ...faultIf(!/<html lang="\w/.test(html), 'does not declare its language'),
  ];
}

const SIGNED = words(`from to subject date message-id mime-version content-type auto-submitted feedback-id`);

async function signatureFaults(
  { mail, isForList }: SentMail,
  resolver: EveryMail['resolver'],
): Promise<string[]> {
  const { dkim } = await authenticate(mail.raw, {
    resolver,
    disableArc: true,
    disableDmarc: true,
    disableBimi: true,
  });
  const [result] = dkim.results;
  const signed = (result?.signingHeaders?.keys ?? '').toLowerCase().split(/[:,]\s*/);
  const hasReplyTo = mail.parsed.replyTo !== undefined;
  const needed = [
    ...SIGNED,
    ...(hasReplyTo ? ['reply-to'] : []),
    ...(isForList ? ['list-id', 'list-unsubscribe', 'list-unsubscribe-post'] : []),
  ];
  return [
    ...faultIf(
      result?.status.result !== 'pass',
      `has a signature with the result ${result?.status.result ?? 'none'}`,
    ),
    ...faultIf(result?.signingDomain !== SENDER_DOMAIN, 'is not signed by its From domain'),
    ...needed.filter((name) => !signed.includes(name)).map((name) => `leaves ${name} unsigned`),
  ];
}

const PREVIEW = /<div aria-hidden="true"[^>]*>([^<]*)<\/div>/;

const URLS = /https?:\/\/\S+/g;
const linksIn = (text: string): string[] => text.match(URLS) ?? [];
const withoutLinks = (text: string): string => text.replaceAll(URLS, ' ');

const readable = (html: string): string =>
  decoded(html.replaceAll(/<(?:br|\/(?:p|td|th|tr|h\d|div|table))\b[^>]*>/g, ' ').replaceAll(/<[^>]*>/g, ''));

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ' };
const decoded = (html: string): string =>
  html.replaceAll(
    /&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
      if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
      return ENTITIES[name ?? ''] ?? whole;
    },
  );

const wordsOf = (text: string): string => (text.match(/[\p{L}\p{N}@]+/gu) ?? []).join(' ');
