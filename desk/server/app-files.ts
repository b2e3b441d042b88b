import { existsSync } from 'node:fs';

import type { FastifyInstance } from 'fastify';

import { paperStyles } from '#desk/paper.ts';
import type { Http } from '#server/http/http.ts';
import {
  contentSecurityPolicy,
  hashOf,
  securityHeaders,
  type ResponseHeaders,
} from '#server/http/security-headers.ts';
import { sendResource, sendWhole } from '#server/http/send-resource.ts';
import { readFiles } from '#server/http/static-files.ts';
import type { ColourPair } from '#shared/colours.ts';

const PAGES = [
  '/',
  '/leads',
  '/companies',
  '/person',
  '/lost',
  '/report',
  '/mail',
  '/doctor',
  '/log',
  '/account',
  '/enter',
] as const;
const INDEX = 'index.html';
export const NO_STORE = 'no-store';

export function serveDeskFiles(
  app: FastifyInstance,
  {
    folder,
    secure,
    accent,
    sendError,
  }: Pick<Http, 'sendError'> & { folder: string | null; secure: boolean; accent: ColourPair | undefined },
): void {
  // The proof of consent opens from a blob, and therefore under the page's policy.
  const policy = contentSecurityPolicy({ scripts: [], styles: [hashOf(paperStyles(accent))] }, secure);
  const read = (headers: ResponseHeaders, isIncluded: (name: string) => boolean) =>
    folder !== null && existsSync(folder)
      ? readFiles(folder, { headers, cacheControl: NO_STORE }, isIncluded)
      : new Map<string, never>();
  const index = read(securityHeaders(secure, policy), (name) => name === INDEX).get(INDEX);
  for (const url of PAGES)
    app.get(url, async (request, reply) =>
      index === undefined
        ? sendError(reply, 'not-found', {
            sentence:
              'The pages of the desk have not been built. Run "npm run build", and start the desk again.',
          })
        : sendWhole(request, reply, index),
    );
  for (const [name, file] of read(securityHeaders(secure), (one) => one !== INDEX))
    app.route({
      method: ['GET', 'HEAD'],
      url: `/${name}`,
      handler: (request, reply) => sendResource(request, reply, file, sendError),
    });
}
