// Where events go: the addresses of WEBHOOK_URLS.
import { createHash } from 'node:crypto';

export type Endpoint = {
  /** Names the address without telling it: whoever knows such an address can send to it. */
  readonly id: string;
  readonly url: URL;
  /** What it is called in lists and in the log. */
  readonly host: string;
  /** What it takes: our events, or a message to people (Slack). */
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
