import type * as z from 'zod/mini';

import type { Role } from '#desk/endpoints/endpoint.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type { FileResponse, FileHandler } from '#desk/server/handler.ts';

export type FileCall = {
  readonly path: `/api/${string}`;
  readonly needs: Role;
  readonly handle: FileHandler;
};

export function readQuery<What>(asked: z.ZodMiniType<What>, query: unknown): What {
  const result = asked.safeParse(query);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new CommandFailure(
    `“${issue?.path.join('.') ?? ''}” in the URL is invalid. Go back, and choose again.`,
    2,
  );
}

/** @param fileName absent if the browser should display the page */
export const pageResponse = (html: string, fileName?: string): FileResponse => ({
  type: 'text/html; charset=utf-8',
  ...(fileName !== undefined && { fileName }),
  styles: [...html.matchAll(/<style[^>]*>([^<]*)<\/style>/g)].map(([, styles = '']) => styles),
  body: html,
});
