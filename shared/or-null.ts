/** Returns null if the work throws, as parsers of foreign text do. */
export function orNull<Result>(work: () => Result): Result | null {
  try {
    return work();
  } catch {
    return null;
  }
}
