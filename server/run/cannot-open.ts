// How a step of opening the service fails with a sentence for the operator.

/** The message is that sentence. openService (service.ts) returns it and lets none through. */
export class CannotOpen extends Error {}

/**
 * Does one step of the opening.
 * @param explain one sentence about what was thrown, or null to let it through
 */
export async function orRefuse<Result>(
  step: () => Result | Promise<Result>,
  explain: (error: unknown) => string | null,
): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    const sentence = explain(error);
    throw sentence === null ? error : new CannotOpen(sentence);
  }
}
