// Parts of the help that many commands share.

/** Precedes the name of a command. */
export const COMMAND_PREFIX = 'npm run -s desk --';

/** @param commands without {@link COMMAND_PREFIX} */
export const examples = (...commands: readonly string[]): string =>
  `\nExample${commands.length === 1 ? '' : 's'}:${commands.map((command) => `\n  $ ${COMMAND_PREFIX} ${command}`).join('')}`;

/** Reads an option that may be given several times. */
export const repeatable = (text: string, previous: readonly string[] | undefined): readonly string[] => [
  ...(previous ?? []),
  text,
];

export const JSON_OPTION = ['--json', 'as one JSON document'] as const;
