import type { LeadEventBody } from '#server/webhooks/webhook-events.ts';
import { answerText, labelAndAnswer } from '#shared/own-answers.ts';

/** https://docs.slack.dev/messaging/formatting-message-text */
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** A visitor's words stay text: they mention nobody and start no new line. @returns the body for Slack */
export function slackMessage({ type, data: { lead } }: LeadEventBody): string {
  const facts: readonly (readonly [name: string, value: string])[] =
    'email' in lead
      ? [
          ['name', lead.name],
          ['company', lead.company],
          ['email', lead.email],
          ...Object.values(lead.answers ?? {}).map(
            ({ label, answer }) => [label, answerText(answer)] as const,
          ),
          ['source', lead.source],
        ]
      : [['id', lead.id]];
  const lines = facts
    .filter(([, value]) => value !== '')
    .map(([name, value]) => labelAndAnswer(plain(name), plain(value)));
  return JSON.stringify({
    text: [type, ...lines].join('\n'),
    mrkdwn: false,
    unfurl_links: false,
    unfurl_media: false,
  });
}

const plain = (text: string): string =>
  text.replaceAll(/[\p{C}\s]+/gu, ' ').replaceAll(/[&<>]/g, (sign) => ESCAPES[sign] ?? sign);
