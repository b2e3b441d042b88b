// What answers a call of the desk in a browser: a function of the service, the person who asks, and what is asked.
import type { Answer, Asked, Role } from '#desk/endpoints/endpoint.ts';
import type { Deed } from '#desk/endpoints/auth.ts';
import type { Actor } from '#desk/audit-log/audit-log.ts';
import type { Service } from '#server/startup/service.ts';

/** The person who is signed in. */
type SignedIn = {
  /** Null for the person at the machine, who came by the link of `desk open`. */
  readonly email: string | null;
  readonly role: Role;
};

type Note = (deed: Deed, about: string | null, details?: string) => Promise<void>;

export type DeskContext = {
  readonly service: Service;
  readonly person: SignedIn;
  /** That person, for what they change (`changePerson` of desk/audit-log/audit-log.ts). */
  readonly actor: Actor;
  /** Notes in the record who looked at what. @param about the address that it was about @param details never personal */
  readonly note: Note;
  /** The same for a deed that is done already: a failure to note it is logged, and does not fail the answer. */
  readonly noteDone: Note;
  /** Aborted when the browser goes away. */
  readonly signal: AbortSignal;
  /** DNS servers to ask; the machine's own if not given. */
  readonly dnsServers?: readonly string[] | undefined;
};

/**
 * Answers one call. What cannot be done is thrown as a CommandFailure: its sentence says what to do next, and becomes the answer (422);
 * its exit code 2 means that the request itself was wrong (400).
 * @returns null when what was asked for is not there (404)
 */
export type Handler<Of> = (context: DeskContext, asked: Asked<Of>) => Promise<Answer<Of> | null>;

/** A file that a call answers with. */
export type FileAnswer = {
  /** Such as `text/csv; charset=utf-8`. */
  readonly type: string;
  /** The name to save it under; without one, the browser shows it. */
  readonly fileName?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of a page: what stands in its `<style>` elements, which its Content-Security-Policy then allows. */
  readonly styles?: readonly string[];
  /** Sent as it comes, no faster than the browser takes it. */
  readonly body: string | AsyncIterable<string>;
};

/** Answers a GET with a file. Failures as of {@link Handler}. @param query of the address, unchecked */
export type FileHandler = (
  context: DeskContext,
  query: Readonly<Record<string, unknown>>,
) => Promise<FileAnswer | null>;
