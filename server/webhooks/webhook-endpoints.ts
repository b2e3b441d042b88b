import { createHash } from 'node:crypto';

export type Endpoint = {
  /** A hash, because the URL is a secret. */
  readonly id: string;
  readonly url: URL;
  readonly host: string;
  readonly takes: 'events' | 'messages';
};

const ID_LENGTH = 16;
const SLACK = 'hooks.slack.com';

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
