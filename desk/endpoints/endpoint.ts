// Defines an endpoint once for browser and server. The input is the query of a GET or the JSON body of a POST; responses are
// JSON.
import * as z from 'zod/mini';

/** `read` allows viewing; `all` also allows export, correction, erasure and suppression. */
const ROLES = ['read', 'all'] as const;
export type Role = (typeof ROLES)[number];

/** Removes control characters, which a terminal would execute. */
export const oneLine = z.overwrite((text: string) => text.replaceAll(/\p{Cc}+/gu, ' '));

/** The minimum role required; null allows anyone. */
export type Needs = Role | null;

export type Endpoint<Input, Output> = {
  readonly method: 'GET' | 'POST';
  readonly path: `/api/${string}`;
  readonly needs: Needs;
  readonly input: z.ZodMiniType<Input>;
  /** Only carries the type. */
  readonly output?: Output;
};

export type InputOf<Of> = Of extends Endpoint<infer Input, unknown> ? Input : never;
export type OutputOf<Of> =
  Of extends Endpoint<never, infer Output>
    ? Output
    : Of extends Endpoint<infer _, infer Output>
      ? Output
      : never;

export type Nothing = Record<string, never>;

const endpoint =
  <Output>(method: 'GET' | 'POST') =>
  <Input = Nothing>(
    path: `/api/${string}`,
    needs: Needs,
    input = z.object({}) as unknown as z.ZodMiniType<Input>,
  ): Endpoint<Input, Output> => ({ method, path, needs, input });

export const get = <Output>() => endpoint<Output>('GET');
export const post = <Output>() => endpoint<Output>('POST');
