// The guide as a file, behind the button under the article. Like the article it is in no public file: without a session there is no way
// to it.
import { open } from 'node:fs/promises';
import path from 'node:path';

import type { FastifyInstance } from 'fastify';
import mime from 'mime';

import { leadExists } from '#server/db/tables/leads.ts';
import type { VisitorContext } from '#server/visitors/visitor-context.ts';
import { API } from '#shared/api.ts';

/** Adds its route. Errors: 404 `not-found` when the campaign has no such file, 401 `no-session`. */
export function addGuideFileRoute(app: FastifyInstance, context: VisitorContext): void {
  const { campaign, database, cookies, clock, sendError } = context;
  const { downloadFile } = campaign;
  app.route({
    // Not Fastify's own HEAD, which would read the whole file. The page asks with HEAD whether there is still a session.
    method: ['GET', 'HEAD'],
    url: API.guideFile,
    handler: async (request, reply) => {
      if (downloadFile === null) return sendError(reply, 'not-found');
      const leadId = cookies.readSession(request, clock());
      // An erased lead has no access any more, whatever its cookie says.
      if (leadId === null || !(await leadExists(database.db, leadId))) return sendError(reply, 'no-session');
      const file = await open(downloadFile);
      const { size } = await file.stat();
      const name = path.basename(downloadFile);
      void reply
        .type(mime.getType(name) ?? 'application/octet-stream')
        // Names in article/ are of letters, digits and signs that need no escaping (shared/campaign-schema.ts).
        .header('content-disposition', `attachment; filename="${name}"`)
        .header('content-length', size)
        .header('cache-control', 'private, no-store')
        .header('x-robots-tag', 'noindex');
      if (request.method === 'HEAD') {
        await file.close();
        return reply.send();
      }
      // As it was when it was opened: a file that grows meanwhile would break the stated length.
      return reply.send(file.createReadStream({ start: 0, end: Math.max(0, size - 1) }));
    },
  });
}
