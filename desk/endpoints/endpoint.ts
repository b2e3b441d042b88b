// A call between the desk in a browser and its server: one definition for both sides. What is asked travels in the query of a GET and in
// the JSON body of a POST; the answer is JSON.
import * as z from 'zod/mini';

/** `read` looks; `all` also exports, corrects, erases and suppresses. */
const ROLES = ['read', 'all'] as const;
export type Role = (typeof ROLES)[number];

/** Takes control characters out of what a desk user writes: a terminal would obey them. */
export const oneLine = z.overwrite((text: string) => text.replaceAll(/\p{Cc}+/gu, ' '));

/** Who may make a call: a person with this role at least, or (null) anyone, signed in or not. */
export type Needs = Role | null;

export type Call<What, Answered> = {
  readonly method: 'GET' | 'POST';
  readonly path: `/api/${string}`;
  readonly needs: Needs;
  readonly asked: z.ZodMiniType<What>;
  /** Never there: it carries the type of the answer. */
  readonly answer?: Answered;
};

export type Asked<Of> = Of extends Call<infer What, unknown> ? What : never;
export type Answer<Of> =
  Of extends Call<never, infer What> ? What : Of extends Call<infer _, infer What> ? What : never;

type Where<What> = Pick<Call<What, unknown>, 'path' | 'needs' | 'asked'>;

/** Defines a call that changes nothing. */
export const get =
  <Answered>() =>
  <What>(where: Where<What>): Call<What, Answered> => ({ method: 'GET', ...where });

/** Defines a call that changes something. Only the desk's own pages can make it (same origin). */
export const post =
  <Answered>() =>
  <What>(where: Where<What>): Call<What, Answered> => ({ method: 'POST', ...where });
