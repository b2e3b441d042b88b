// The failure that ends a command of the desk.

/** 1: it could not be done. 2: the command was called in a wrong way, and nothing was tried. */
type FailureExit = 1 | 2;

/** Ends a command with a sentence that says what to do next. */
export class CommandFailure extends Error {
  readonly exitCode: FailureExit;

  constructor(sentence: string, exitCode: FailureExit = 1) {
    super(sentence);
    this.exitCode = exitCode;
  }
}
