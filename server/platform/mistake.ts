export type Mistake = {
  /** Such as `campaign/site.yaml`; absent if no file is the cause. */
  readonly file?: string | undefined;
  /** Line and column start at 1. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** The fact, then the action; may begin with the name of an entry. */
  readonly message: string;
};

/** In the format that editors and terminals link: `campaign/site.yaml:12: titel: unknown entry; …`. */
export const sayMistake = ({ file, line, column, message }: Mistake): string =>
  [[file, line, column].filter((part) => part !== undefined).join(':'), message]
    .filter((part) => part !== '')
    .join(': ');

export type Mistakes = { readonly type: 'mistakes'; readonly mistakes: readonly Mistake[] };

export const mistakesOf = (...mistakes: readonly Mistake[]): Mistakes => ({ type: 'mistakes', mistakes });
