// Paths, headers and successful responses. Requests are in lead.ts, errors in errors.ts.
import * as z from 'zod/mini';

import type { TypedAnswers } from '#shared/lead.ts';

export const API = {
  leads: '/api/leads',
  verify: '/api/verify',
  challenge: '/api/challenge',
  article: '/api/article',
  proofOfWork: '/api/proof-of-work',
  unsubscribe: '/api/unsubscribe',
  guide: '/api/guide',
  guideFile: '/api/guide-file',
  funnel: '/api/funnel',
  live: '/api/live',
  health: '/api/health',
} as const;

/** 202 to `POST /api/leads`, the same for known and unknown e-mail addresses. */
export const CodeRequested = z.object({
  /** Not secret: `GET /api/challenge?id=…` finds it only for the browser that sent the form. */
  challengeId: z.string(),
  /** Three letters, also in the mail, so that a visitor can recognise the newest mail. */
  reference: z.string(),
  resendSeconds: z.number(),
  /** The sender of our mail. Absent if the server runs an earlier release. */
  sender: z.optional(z.string()),
});
export type CodeRequested = z.infer<typeof CodeRequested>;

/** `waiting`: not sent yet. `sent`: accepted by a mail server. `refused`: permanently. */
const MailStatus = z.enum(['waiting', 'sent', 'delayed', 'refused']);
export type MailStatus = z.infer<typeof MailStatus>;

export const OpenChallenge = z.object({
  name: z.string(),
  company: z.string(),
  email: z.string(),
  /** Answers to custom questions, by ID. Absent without any, or from an earlier release. */
  answers: z.optional(z.any() as z.ZodMiniType<TypedAnswers>),
  reference: z.string(),
  resendSeconds: z.number(),
  /** Relative, so a countdown continues after a reload even if the device's clock is wrong. */
  askedSecondsAgo: z.number(),
  /** The consent wording that the visitor agreed to; a resend repeats it. Empty if the form named none. */
  consentVersion: z.string(),
  mail: z.optional(MailStatus),
  sender: z.optional(z.string()),
  /** Absent if the visitor didn't tick the box for news. */
  newsConsentVersion: z.optional(z.string()),
  /** The code was used, and this browser has a session. */
  verified: z.optional(z.boolean()),
});
export type OpenChallenge = z.infer<typeof OpenChallenge>;

export const PROOF_OF_WORK_HEADER = 'x-proof-of-work';

/**
 * Names the consent wording that the page showed. It is a header because the specification fixes the body of `POST
 * /api/leads`.
 */
export const CONSENT_VERSION_HEADER = 'x-consent-version';

/** Campaign parameters: `first=…&last=…`, each an encoded query string (shared/funnel.ts). */
export const VISIT_HEADER = 'x-visit';

/** 200 to `GET /api/article`. The server renders the HTML from the operator's Markdown, so it is safe to insert. */
export const Article = z.object({ title: z.string(), html: z.string() });
export type Article = z.infer<typeof Article>;

/** Value of `Prefer` (RFC 7240) in `POST /api/verify`: asks for the article in the response, which saves a request. */
export const WITH_ARTICLE = 'return=representation';

export const Verified = z.object({ verified: z.literal(true), article: z.optional(Article) });
export type Verified = z.infer<typeof Verified>;
