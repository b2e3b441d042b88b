// The calls between browser and server: where they go and what a success says. Requests are in lead.ts,
// errors in errors.ts.
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

/** 202 to `POST /api/leads`: the same for addresses we know and addresses we do not. */
export const CodeRequested = z.object({
  /** Names the challenge without revealing whose it is; `GET /api/challenge?id=…` answers to the same browser only. */
  challengeId: z.string(),
  /** Three letters that also stand in the e-mail, so that a visitor can tell the newest from an older one. */
  reference: z.string(),
  /** Seconds until the server will send another code to this browser. */
  resendSeconds: z.number(),
  /** The address our mail comes from, for the visitor to look for. Missing from a server of an earlier release. */
  sender: z.optional(z.string()),
});
export type CodeRequested = z.infer<typeof CodeRequested>;

/**
 * The state of the mail that carries a visitor's code: not yet sent, taken by a mail server, delayed (it will be tried again,
 * or has waited for longer than usual), refused for good.
 */
const MailFate = z.enum(['waiting', 'sent', 'delayed', 'refused']);
export type MailFate = z.infer<typeof MailFate>;

/** 200 to `GET /api/challenge`: what this browser asked for, and waits for as long as it has no session. */
export const OpenChallenge = z.object({
  name: z.string(),
  company: z.string(),
  email: z.string(),
  /** To the questions of the campaign's own, by id; missing without such questions, and from a server of an earlier release. */
  answers: z.optional(z.any() as z.ZodMiniType<TypedAnswers>),
  reference: z.string(),
  resendSeconds: z.number(),
  /** Since it was asked for last, with or without a new code: a countdown that began then goes on. */
  askedSecondsAgo: z.number(),
  /** The wording of the consent that was agreed to, for a resend to state again; empty when none was stated. */
  consentVersion: z.string(),
  /** The mail of the newest code. Missing from a server of an earlier release. */
  mail: z.optional(MailFate),
  /** As in {@link CodeRequested}. */
  sender: z.optional(z.string()),
  /** True: its code was entered, and this browser has a session, which opens the article. */
  verified: z.optional(z.boolean()),
});
export type OpenChallenge = z.infer<typeof OpenChallenge>;

/** The header in which a browser sends its solution: the JSON of challenge and solution, in base64. */
export const PROOF_OF_WORK_HEADER = 'x-proof-of-work';

/**
 * The header of `POST /api/leads` in which a page says which wording of the consent it shows: the version that the build
 * made from the words (server/campaign/campaign.ts). The body belongs to the specification.
 */
export const CONSENT_VERSION_HEADER = 'x-consent-version';

/**
 * The header of `POST /api/leads` and `POST /api/funnel` in which a page says where its visit came from: `first=…&last=…`, each the text of
 * parameters (shared/attribution.ts).
 */
export const VISIT_HEADER = 'x-visit';

/** 200 to `GET /api/article`: made by the server from the operator's Markdown, so it is safe to insert. */
export const Article = z.object({ title: z.string(), html: z.string() });
export type Article = z.infer<typeof Article>;

/**
 * The `Prefer` header (RFC 7240) of `POST /api/verify` with which a page asks for what the code opens along with the answer,
 * so that it need not be fetched after it.
 */
export const WITH_ARTICLE = 'return=representation';

/** 200 to `POST /api/verify`. The article comes along where it was asked for and the browser sent its cookie. */
export const Verified = z.object({ verified: z.literal(true), article: z.optional(Article) });
export type Verified = z.infer<typeof Verified>;
