import type { InputOf, OutputOf } from '#desk/endpoints/endpoint.ts';
import type { Actor, LogForActor } from '#desk/audit-log/audit-log.ts';
import type { Service } from '#server/startup/service.ts';

export type DeskContext = {
  readonly service: Service;
  readonly actor: Actor;
  /** Adds an entry to the audit log, before data leaves the desk: if logging fails, so does the response. */
  readonly log: LogForActor;
  readonly signal: AbortSignal;
  readonly dnsServers?: readonly string[] | undefined;
};

/**
 * Handles a request to an endpoint. A CommandFailure is sent as the response: its sentence with status 422, or 400 for exit code 2.
 * @returns null to respond with 404
 */
export type Handler<Of> = (context: DeskContext, input: InputOf<Of>) => Promise<OutputOf<Of> | null>;

export type FileResponse = {
  readonly type: string;
  readonly fileName?: string;
  /** Contents of inline `<style>` elements, for the Content-Security-Policy. */
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
) => Promise<FileResponse | null>;
