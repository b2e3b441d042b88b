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

export type Call<What, Answered> = {
  readonly method: 'GET' | 'POST';
  readonly path: `/api/${string}`;
  readonly needs: Needs;
  readonly asked: z.ZodMiniType<What>;
  readonly answer?: Answered;
};

export type Asked<Of> = Of extends Call<infer What, unknown> ? What : never;
export type Answer<Of> =
  Of extends Call<never, infer What> ? What : Of extends Call<infer _, infer What> ? What : never;

export type Nothing = Record<string, never>;

const endpoint =
  <Answered>(method: 'GET' | 'POST') =>
  <What = Nothing>(
    path: `/api/${string}`,
    needs: Needs,
    asked = z.object({}) as unknown as z.ZodMiniType<What>,
  ): Call<What, Answered> => ({ method, path, needs, asked });

export const get = <Answered>() => endpoint<Answered>('GET');
export const post = <Answered>() => endpoint<Answered>('POST');
