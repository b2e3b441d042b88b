/**
 * Returns the code of an error of Node's, PostgreSQL's or a library's, such as ENOENT or 57014.
 * @returns null for an error without one
 */
export const errorCode = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
