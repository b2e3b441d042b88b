// Nodes of the file system that are no files, made for tests that aim at them. Never those of /dev: one that is replaced is gone.
import { execFileSync } from 'node:child_process';

/** @param kind as mknod(1) has it: p for a pipe; c or b with two numbers for a device, which only root may make */
export const makeNode = (file: string, ...kind: readonly string[]): void =>
  void execFileSync('mknod', [file, ...kind]);

/** Why a test that needs a device is skipped. */
export const unlessRoot: string | false = process.getuid?.() === 0 ? false : 'only root makes devices';
