/** 1: the command failed. 2: it was called incorrectly, and nothing was tried. */
type FailureExit = 1 | 2;

/** Ends a command with a sentence that tells the operator what to do. */
export class CommandFailure extends Error {
  readonly exitCode: FailureExit;

  constructor(sentence: string, exitCode: FailureExit = 1) {
    super(sentence);
    this.exitCode = exitCode;
  }
}
