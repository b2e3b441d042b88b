// React makes errors while it is loaded, to throw them later. For each one V8 notes where it was made, and has to read the whole file
// anew for that: a fifth of the time between tap and form on a slow phone. So this is imported before anything else.

/** V8's setting, which other engines have or ignore. */
type WithLimit = { stackTraceLimit?: number | undefined };

const { stackTraceLimit } = Error as WithLimit;
(Error as WithLimit).stackTraceLimit = 0;

/** To be called once everything is loaded: from then on errors say again where they were made. */
export const noteStacks = (): void => {
  (Error as WithLimit).stackTraceLimit = stackTraceLimit;
};
