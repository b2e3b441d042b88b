/**
 * Awaits statements of one transaction that were begun together. They leave in one packet (send-at-once.ts), and the database runs
 * them in the order in which they stand here. None of them may need what another one finds out. What one of them writes stays when the
 * caller then refuses the request because of another.
 * @param statements each a call that sends all its statements in the turn in which it is made
 * @returns their results
 * @throws what the first that failed throws; the transaction then fails with it, whatever the others did
 */
export const inOneTrip = <const Statements extends readonly unknown[]>(
  ...statements: Statements
): Promise<{ -readonly [At in keyof Statements]: Awaited<Statements[At]> }> => Promise.all(statements);
