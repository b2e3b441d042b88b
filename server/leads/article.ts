import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import mime from 'mime';

import type { Db } from '#server/db/engine/connect.ts';
import { findReader, leadExists, recordFirstRead } from '#server/db/tables/leads.ts';
import { sendInvalidLinkPage, homeLink } from '#server/http/letter-page.ts';
import {
  createResource,
  JSON_TYPE,
  sendResource,
  sendWhole,
  textResource,
  type Resource,
} from '#server/http/send-resource.ts';
import type { VisitorHttp, VisitorService } from '#server/leads/visitor-service.ts';
import { readGuideToken } from '#server/secrets/mail-links.ts';
import type { Webhooks } from '#server/webhooks/webhooks.ts';
import { API } from '#shared/api.ts';
import { fill } from '#shared/words.ts';

export function addArticleRoutes(app: FastifyInstance, service: VisitorService, http: VisitorHttp): void {
  addArticleRoute(app, service, http);
  addGuideFileRoute(app, service, http);
  addGuideLinkRoute(app, service, http);
}

function addArticleRoute(
  app: FastifyInstance,
  { campaign, database, webhooks, clock }: VisitorService,
  { cookies, sendError }: VisitorHttp,
): void {
  const resource = textResource(JSON.stringify(campaign.article), {
    type: JSON_TYPE,
    cacheControl: 'private, no-store',
  });
  app.get(API.article, async (request, reply) => {
    const leadId = cookies.readSession(request, clock());
    const reader = leadId === null ? undefined : await findReader(database.db, leadId);
    if (reader === undefined) return sendError(reply, 'no-session');
    // Security gateways open links in a real browser. So in a session opened by a link, only HEAD counts, which the page sends
    // once the reader has scrolled.
    const isReading = request.method === (cookies.wasOpenedByLink(request) ? 'HEAD' : 'GET');
    if (reader.first_read_at === null && isReading)
      await recordFirstReading(database.db, webhooks, reader.id, clock(), request.log);
    return sendWhole(request, reply, resource);
  });
}

/** A busy database usually records within this time. A reader waits so long only while it cannot write. */
const RECORDING_TIMEOUT_MS = 1_000;

/**
 * Records a lead's first reading. Call this before sending the article. A failure is only logged, and the next reading is
 * recorded instead.
 * @returns once the reading is recorded, or if recording takes too long
 */
export async function recordFirstReading(
  db: Db,
  webhooks: Pick<Webhooks, 'endpoints' | 'queue' | 'wake'>,
  leadId: string,
  now: number,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<void> {
  const storeReading = async (tx: Db) => {
    if (await recordFirstRead(tx, { id: leadId, now }))
      await webhooks.queue(tx, { type: 'lead.read', leadId, now });
  };
  const tryToStore = async () => {
    try {
      if (webhooks.endpoints.length === 0) return await storeReading(db);
      await db.transaction().execute(storeReading);
      webhooks.wake();
    } catch (error) {
      log.warn(
        { err: error },
        'The time of a lead’s first visit to the article could not be stored. The next visit will be stored instead.',
      );
    }
  };
  await Promise.race([tryToStore(), setTimeout(RECORDING_TIMEOUT_MS, undefined, { ref: false })]);
}

/** Errors: 404 `not-found`, 401 `no-session`, and those of sendResource. */
function addGuideFileRoute(
  app: FastifyInstance,
  { campaign, database, clock }: VisitorService,
  { cookies, sendError }: VisitorHttp,
): void {
  const guide = campaign.downloadFile === null ? null : readGuide(campaign.downloadFile);
  app.route({
    method: ['GET', 'HEAD'],
    url: API.guideFile,
    handler: async (request, reply) => {
      if (guide === null) return sendError(reply, 'not-found');
      const leadId = cookies.readSession(request, clock());
      if (leadId === null || !(await leadExists(database.db, leadId))) return sendError(reply, 'no-session');
      return sendResource(request, reply, guide, sendError);
    },
  });
}

/** A thousand slow readers share one copy in memory and hold no file open. */
function readGuide(file: string): Resource {
  const name = path.basename(file);
  const guide = createResource({
    type: mime.getType(name) ?? 'application/octet-stream',
    cacheControl: 'private, no-store',
    bodies: { identity: readFileSync(file) },
    headers: { 'content-disposition': `attachment; filename="${name}"`, 'x-robots-tag': 'noindex' },
  });
  // Hashes the file now, so that the first visitor doesn't have to wait.
  guide.representationFor(undefined);
  return guide;
}

const GUIDE_ANCHOR = '/#guide';

function addGuideLinkRoute(
  app: FastifyInstance,
  { config, campaign, database, secrets, clock }: VisitorService,
  { cookies, letterPage }: VisitorHttp,
): void {
  const words = campaign.interface.guideLink;
  const expiredPage = letterPage({
    documentTitle: fill(words.pageTitle, { title: campaign.site.title }),
    title: words.title,
    text: words.text,
    action: homeLink(words.home, config.basePath),
  });
  app.get<{ Querystring: { t?: unknown } }>(API.guide, async (request, reply) => {
    const leadId = readGuideToken(secrets, request.query.t, clock());
    if (leadId === null || !(await leadExists(database.db, leadId)))
      return sendInvalidLinkPage(request, reply, expiredPage);
    const hasEnteredCode =
      cookies.readSession(request, clock()) === leadId && !cookies.wasOpenedByLink(request);
    cookies.openSession(reply, leadId, clock(), hasEnteredCode ? 'code' : 'link');
    return reply
      .header('cache-control', 'no-store')
      .header('referrer-policy', 'no-referrer')
      .redirect(config.basePath + GUIDE_ANCHOR, 303);
  });
}
