// Never use the devices of /dev: a test that replaces one breaks the machine.
import { execFileSync } from 'node:child_process';

/** @param kind arguments of mknod(1): p for a pipe; c or b with two numbers for a device (needs root) */
export const makeNode = (file: string, ...kind: readonly string[]): void =>
  void execFileSync('mknod', [file, ...kind]);

export const unlessRoot: string | false = process.getuid?.() === 0 ? false : 'only root makes devices';
