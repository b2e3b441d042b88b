// The endpoints that events are sent to: the addresses of WEBHOOK_URLS.
import { createHash } from 'node:crypto';

export type Endpoint = {
  /** A hash of the address, because anyone who knows the address can send to it. */
  readonly id: string;
  readonly url: URL;
  /** Its name in lists and in the log. */
  readonly host: string;
  /** Our events, or a message to people (Slack). */
  readonly takes: 'events' | 'messages';
};

const ID_LENGTH = 16;
const SLACK = 'hooks.slack.com';

/** @param urls as WEBHOOK_URLS has them */
export const endpointsOf = (urls: readonly string[]): readonly Endpoint[] =>
  urls.map((text) => {
    const url = new URL(text);
    return {
      id: createHash('sha256').update(url.href).digest('hex').slice(0, ID_LENGTH),
      url,
      host: url.host,
      takes: url.hostname === SLACK ? 'messages' : 'events',
    };
  });
