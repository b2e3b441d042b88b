import type { Answer, Asked, Role } from '#desk/endpoints/endpoint.ts';
import type { DeskAction } from '#desk/endpoints/auth.ts';
import type { Actor } from '#desk/audit-log/audit-log.ts';
import type { Service } from '#server/startup/service.ts';

type SignedIn = {
  /** Null for the person at the machine, signed in with the link of `desk open`. */
  readonly email: string | null;
  readonly role: Role;
};

type Note = (deed: DeskAction, about: string | null, details?: string) => Promise<void>;

export type DeskContext = {
  readonly service: Service;
  readonly person: SignedIn;
  readonly actor: Actor;
  /** @param details never personal */
  readonly note: Note;
  /** Like `note`, after a completed action: if it fails, the error is logged and the response still succeeds. */
  readonly noteDone: Note;
  readonly signal: AbortSignal;
  readonly dnsServers?: readonly string[] | undefined;
};

/**
 * A CommandFailure becomes the response: its sentence with status 422, or 400 for exit code 2.
 * @returns null for 404
 */
export type Handler<Of> = (context: DeskContext, asked: Asked<Of>) => Promise<Answer<Of> | null>;

export type FileAnswer = {
  readonly type: string;
  readonly fileName?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Content of inline `<style>` elements, for the Content-Security-Policy. */
  readonly styles?: readonly string[];
  readonly body: string | AsyncIterable<string>;
};

/**
 * Handles a GET for a file; failures as in {@link Handler}.
 * @param query not validated
 */
export type FileHandler = (
  context: DeskContext,
  query: Readonly<Record<string, unknown>>,
) => Promise<FileAnswer | null>;
