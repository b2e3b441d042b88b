// Parts of the help that many commands share.

/** Precedes the name of a command. */
export const CALL = 'npm run -s desk --';

/** @param calls without {@link CALL} */
export const examples = (...calls: readonly string[]): string =>
  `\nExample${calls.length === 1 ? '' : 's'}:${calls.map((call) => `\n  $ ${CALL} ${call}`).join('')}`;

/** Reads an option that may be given several times. */
export const repeatable = (text: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  text,
];

export const JSON_OPTION = ['--json', 'as one JSON document'] as const;
