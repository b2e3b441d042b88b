import type { ExportRun } from '#server/db/queries/export-history.ts';
import type { LeadAnswers } from '#shared/lead.ts';

/**
 * `verified`: by this site, and not suppressed. `suppressed`: verified, but gets no mail. `unverified`: entered no code yet.
 * `imported`: from another tool.
 */
export const LEAD_STATES = ['verified', 'suppressed', 'unverified', 'imported'] as const;
export type LeadState = (typeof LEAD_STATES)[number];

/** Milliseconds since 1970. */
export type LeadRecord = LeadAnswers & {
  readonly id: string;
  readonly email: string;
  readonly state: LeadState;
  readonly state_since: number;
  readonly first_verified_at: number | null;
  readonly last_verified_at: number | null;
  readonly first_read_at: number | null;
  /** JSON (server/attribution/attribution.ts). */
  readonly attribution: string | null;
  /** Separated by spaces. */
  readonly flags: string;
  /** Null if there was only one page. */
  readonly variant: string | null;
  readonly consent_given_at: number | null;
  readonly consent_version: string | null;
  readonly consent_text: string | null;
  readonly consent_source: string | null;
};

export type LeadFilter = {
  /** Inclusive. Milliseconds since 1970. */
  readonly since?: number | undefined;
  /** Exclusive. Milliseconds since 1970. */
  readonly until?: number | undefined;
  readonly flag?: string | undefined;
  /** Leads missing from all exports of this name. */
  readonly missingIn?: string | undefined;
  readonly exportedIn?: ExportRun | undefined;
  /** Ignores case. */
  readonly search?: string | undefined;
  /** In lower case, in ASCII. */
  readonly domain?: string | undefined;
  /** Ignores case. */
  readonly answer?: { readonly field: string; readonly text: string } | undefined;
  /** Any of these texts, ignoring case. */
  readonly attributionHolds?: readonly string[] | undefined;
  readonly newestFirst?: boolean | undefined;
};
