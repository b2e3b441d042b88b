import process from 'node:process';

export const errorCode = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;

/** Each reason follows "cannot be written: ". */
const REASONS: Readonly<Record<string, string>> = {
  ENOTDIR: 'its folder is a file. Name another folder.',
  EISDIR: 'it is a folder. Name a file in it.',
  ELOOP: 'its symbolic links form a loop. Name another file.',
  EEXIST: 'something else already has that name. Move it, or choose another place.',
  ENAMETOOLONG: 'its name is too long. Choose a shorter one.',
  EACCES: 'permission is denied. Grant this user permission, or choose another place.',
  EPERM: 'permission is denied. Grant this user permission, or choose another place.',
  EROFS: 'the disk is read-only. Choose another place.',
  ENOSPC: 'the disk is full. Free some space, or choose another place.',
  EDQUOT: 'the disk quota of this user is used up. Free some space, or choose another place.',
  EFBIG:
    'it would be larger than this user or this disk allows. Raise the limit (ulimit -f), or choose another place.',
  EIO: 'the disk reports an error. Check the disk, or choose another place.',
  EMFILE: 'too many files are open. Raise the limit (ulimit -n), and try again.',
  ENFILE: 'too many files are open on this machine. Close other programs, and try again.',
  EBUSY: 'it is in use by another program. Stop that program, and try again.',
};

/** Used only for writing, because elsewhere a missing file indicates a bug. */
const WRITE_REASONS: Readonly<Record<string, string>> = {
  ...REASONS,
  ENOENT: 'its folder does not exist. Create the folder first, or name another.',
  ENXIO: 'nothing is reading there. Name a file.',
  EPIPE: 'its reader has stopped. Start the reader again.',
};

const PARTICIPLES: Readonly<Record<string, string>> = {
  open: 'opened',
  read: 'read',
  scandir: 'read',
  stat: 'read',
  lstat: 'read',
  realpath: 'read',
};

type SystemError = Error & { readonly code: string; readonly syscall: string; readonly path?: unknown };

export function firstOf(error: unknown): Error | null {
  if (error instanceof AggregateError && error.errors.length > 0) return firstOf(error.errors[0]);
  return error instanceof Error ? error : null;
}

const isSystemError = (error: Error | null): error is SystemError =>
  error !== null &&
  'code' in error &&
  typeof error.code === 'string' &&
  'syscall' in error &&
  typeof error.syscall === 'string';

export function explainWriteFailure(error: unknown, file: string): string | null {
  const failure = firstOf(error);
  const reason = isSystemError(failure) ? WRITE_REASONS[failure.code] : undefined;
  return reason === undefined ? null : `${file} cannot be written: ${reason}`;
}

export function explainSystemFailure(error: unknown): string | null {
  const failure = firstOf(error);
  if (!isSystemError(failure)) return null;
  const { code, syscall, path } = failure;
  const reason = REASONS[code];
  if (reason === undefined || /^(?:bind|connect|listen|send|kill|spawn)/.test(syscall)) return null;
  return `${typeof path === 'string' ? path : 'A file'} cannot be ${PARTICIPLES[syscall] ?? 'written'}: ${reason}`;
}

export const describeBug = (details: string): string =>
  `This is a bug in the software. Please report it to the project, including these lines:\n${details}`;

export const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

/** After an unhandled error, a program that runs once prints a sentence and exits with 1. A closed output doesn't stop it. */
export function endWithSentence(describe: (error: unknown) => string = stackOf): void {
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
  process.once('uncaughtException', (error: unknown) => {
    process.stderr.write(`${explainSystemFailure(error) ?? describeBug(describe(error))}\n`);
    process.exit(1);
  });
}
