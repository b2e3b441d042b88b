/** What is wrong in a file that the operator wrote. */
export type Mistake = {
  /** As the operator calls it, such as `campaign/site.yaml`; absent if no file is to blame. */
  readonly file?: string | undefined;
  /** Counted from 1, as is the column. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** The fact, then what to do: a sentence, which an entry of the file may precede. */
  readonly message: string;
};

/** A mistake in one line, as editors and terminals turn into a link: `campaign/site.yaml:12: titel: unknown entry; …`. */
export const sayMistake = ({ file, line, column, message }: Mistake): string =>
  [[file, line, column].filter((part) => part !== undefined).join(':'), message]
    .filter((part) => part !== '')
    .join(': ');

/** The result of reading something that cannot be used. */
export type Mistakes = { readonly type: 'mistakes'; readonly mistakes: readonly Mistake[] };

export const mistakesOf = (...mistakes: readonly Mistake[]): Mistakes => ({ type: 'mistakes', mistakes });
