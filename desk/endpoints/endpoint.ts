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

type Where<What> = Pick<Call<What, unknown>, 'path' | 'needs' | 'asked'>;

export const get =
  <Answered>() =>
  <What>(where: Where<What>): Call<What, Answered> => ({ method: 'GET', ...where });

export const post =
  <Answered>() =>
  <What>(where: Where<What>): Call<What, Answered> => ({ method: 'POST', ...where });
