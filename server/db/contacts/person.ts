// A person as the database knows one: a lead, someone who asked for a code, or someone who was imported.
import type { ExportRun } from '#server/db/queries/export-history.ts';
import type { LeadAnswers } from '#shared/lead.ts';

/**
 * The states of an address. `verified`: by this page, and not suppressed. `suppressed`: verified, and on the list of addresses that get no
 * mail. `unverified`: asked for a code, and has not entered one. `imported`: from another tool.
 */
export const LEAD_STATES = ['verified', 'suppressed', 'unverified', 'imported'] as const;
export type LeadState = (typeof LEAD_STATES)[number];

/** A person, with a lead's newest consent. Times are milliseconds since 1970. */
export type LeadRecord = LeadAnswers & {
  readonly id: string;
  readonly email: string;
  readonly state: LeadState;
  /** First verified; or asked for the newest code; or imported. */
  readonly state_since: number;
  /** Null for a person who was never verified. */
  readonly first_verified_at: number | null;
  readonly last_verified_at: number | null;
  /** When the lead was first given the article. */
  readonly first_read_at: number | null;
  /** JSON: where the visit came from (server/attribution/attribution.ts); null for an imported person. */
  readonly attribution: string | null;
  /** Separated by spaces. */
  readonly flags: string;
  /** Which of several pages had the form; null where there was one. */
  readonly variant: string | null;
  readonly consent_given_at: number | null;
  readonly consent_version: string | null;
  readonly consent_text: string | null;
  /** Where an imported person's consent came from, in the operator's words. */
  readonly consent_source: string | null;
};

export type LeadFilter = {
  /** In this state since then or later. Milliseconds since 1970. */
  readonly since?: number | undefined;
  /** In this state since before then. Milliseconds since 1970. */
  readonly until?: number | undefined;
  readonly flag?: string | undefined;
  /** Only leads that no export of this name has had. */
  readonly missingIn?: string | undefined;
  /** Only leads that went out in this export. */
  readonly exportedIn?: ExportRun | undefined;
  /** Only people with this text in address, name or company, in capital or small letters. */
  readonly search?: string | undefined;
  /** Only addresses with this after the @. In lower case, in ASCII. */
  readonly domain?: string | undefined;
  /** Only people with this text in their answer to a question of the campaign's own, in capital or small letters. */
  readonly answer?: { readonly field: string; readonly text: string } | undefined;
  /** Only people whose attribution holds one of these texts, in any case: for the few of a source. Who has none is left out. */
  readonly attributionHolds?: readonly string[] | undefined;
  /** Those who have been in the state longest come last. */
  readonly newestFirst?: boolean | undefined;
};
