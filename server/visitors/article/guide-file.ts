// The guide as a file, behind the button under the article. Like the article it is in no public file: without a session there is no way
// to it. It is kept in memory, as the rest of the release: a thousand who read it slowly share one copy, and hold no file open.
import { readFileSync } from 'node:fs';
import path from 'node:path';

import type { FastifyInstance } from 'fastify';
import mime from 'mime';

import { leadExists } from '#server/db/tables/leads.ts';
import { createResource, sendResource, type Resource } from '#server/http/send-resource.ts';
import type { VisitorContext } from '#server/visitors/visitor-context.ts';
import { API } from '#shared/api.ts';

/**
 * Adds its route. Errors: 404 `not-found` when the campaign has no such file, 401 `no-session`, and those of a resource
 * (http/send-resource.ts).
 */
export function addGuideFileRoute(app: FastifyInstance, context: VisitorContext): void {
  const { campaign, database, cookies, clock, sendError } = context;
  const guide = campaign.downloadFile === null ? null : readGuide(campaign.downloadFile);
  app.route({
    // The page asks with HEAD whether there is still a session.
    method: ['GET', 'HEAD'],
    url: API.guideFile,
    handler: async (request, reply) => {
      if (guide === null) return sendError(reply, 'not-found');
      const leadId = cookies.readSession(request, clock());
      // An erased lead has no access any more, whatever its cookie says.
      if (leadId === null || !(await leadExists(database.db, leadId))) return sendError(reply, 'no-session');
      return sendResource(request, reply, guide, sendError);
    },
  });
}

function readGuide(file: string): Resource {
  const name = path.basename(file);
  const guide = createResource({
    type: mime.getType(name) ?? 'application/octet-stream',
    cacheControl: 'private, no-store',
    bodies: { identity: readFileSync(file) },
    // Names in article/ are of letters, digits and signs that need no escaping (shared/campaign-schema.ts).
    always: ['content-disposition', `attachment; filename="${name}"`, 'x-robots-tag', 'noindex'],
  });
  // Its entity tag is a hash of the file: made now, so that no visitor waits for that of a large one.
  guide.representationFor(undefined);
  return guide;
}
