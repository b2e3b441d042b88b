// A delivery status notification like Postfix's, and a feedback report like Yahoo's.

type Report = {
  readonly messageId?: string;
  readonly to?: string;
  readonly date?: string;
};

const lines = (...parts: readonly (string | null)[]): string =>
  parts.filter((part) => part !== null).join('\r\n');

const returned = (messageId: string | undefined, recipient: string): string =>
  lines(
    'From: Guide <guide@example.com>',
    `To: ${recipient}`,
    'Subject: Your code is 000000',
    messageId === undefined ? null : `Message-ID: ${messageId}`,
    'Date: Fri, 20 Nov 2026 12:00:00 +0000',
  );

export const deliveryStatus = ({
  messageId,
  to = 'guide@example.com',
  date = 'Fri, 20 Nov 2026 12:00:05 +0000 (UTC)',
  recipient = 'ada@example.com',
  original,
  action = 'failed',
  status = '5.1.1',
  diagnostic = 'smtp; 550 5.1.1 <ada@example.com>: Recipient address rejected: User\r\n    unknown in virtual mailbox table',
}: Report & {
  readonly recipient?: string;
  readonly original?: string;
  readonly action?: string;
  readonly status?: string;
  readonly diagnostic?: string | null;
} = {}): string =>
  lines(
    'Return-Path: <>',
    `Delivered-To: ${to}`,
    `Date: ${date}`,
    'From: MAILER-DAEMON@mx.example.com (Mail Delivery System)',
    'Subject: Undelivered Mail Returned to Sender',
    `To: ${to}`,
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status;',
    '\tboundary="8B2F5.1/mx.example.com"',
    'Message-Id: <20261120120005.8B2F5@mx.example.com>',
    '',
    'This is a MIME-encapsulated message.',
    '',
    '--8B2F5.1/mx.example.com',
    'Content-Description: Notification',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'I’m sorry to have to inform you that your message could not be delivered.',
    'Action: failed',
    'Status: 5.1.1',
    '',
    '--8B2F5.1/mx.example.com',
    'Content-Description: Delivery report',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example.com',
    'X-Postfix-Queue-ID: 8B2F5',
    'Arrival-Date: Fri, 20 Nov 2026 12:00:01 +0000 (UTC)',
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    original === undefined ? null : `Original-Recipient: rfc822;${original}`,
    `Action: ${action}`,
    `Status: ${status}`,
    'Remote-MTA: dns; mail.example.com',
    diagnostic === null ? null : `Diagnostic-Code: ${diagnostic}`,
    '',
    '--8B2F5.1/mx.example.com',
    'Content-Description: Undelivered Message',
    'Content-Type: message/rfc822',
    '',
    returned(messageId, recipient),
    'Content-Type: text/plain',
    '',
    'The body.',
    '--8B2F5.1/mx.example.com--',
    '',
  );

export const feedbackReport = ({
  messageId,
  to = 'guide@example.com',
  date = 'Fri, 20 Nov 2026 12:00:05 +0000',
  feedback = 'abuse',
  mailFrom,
}: Report & { readonly feedback?: string; readonly mailFrom?: string } = {}): string =>
  lines(
    'From: <feedback@arf.mail.example.com>',
    `Date: ${date}`,
    'Subject: FW: Your guide',
    `To: <${to}>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="part1_13d.2e68ed54_boundary"',
    '',
    '--part1_13d.2e68ed54_boundary',
    'Content-Type: text/plain; charset="US-ASCII"',
    'Content-Transfer-Encoding: 7bit',
    '',
    'This is an email abuse report for an email message received from IP 192.0.2.1.',
    '',
    '--part1_13d.2e68ed54_boundary',
    'Content-Type: message/feedback-report',
    '',
    `Feedback-Type: ${feedback}`,
    'User-Agent: SomeGenerator/1.0',
    'Version: 1',
    mailFrom === undefined ? null : `Original-Mail-From: <${mailFrom}>`,
    'Original-Rcpt-To: <redacted@example.com>',
    'Received-Date: Fri, 20 Nov 2026 12:00:02 +0000',
    'Source-IP: 192.0.2.1',
    '',
    '--part1_13d.2e68ed54_boundary',
    'Content-Type: text/rfc822-headers',
    'Content-Disposition: inline',
    '',
    returned(messageId, 'redacted@example.com'),
    '',
    '--part1_13d.2e68ed54_boundary--',
    '',
  );
