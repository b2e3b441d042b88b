// Pipes and devices, made for tests that write to them. Never use those of /dev: a test that replaces one breaks the machine.
import { execFileSync } from 'node:child_process';

/** @param kind as mknod(1) has it: p for a pipe; c or b with two numbers for a device, which only root may make */
export const makeNode = (file: string, ...kind: readonly string[]): void =>
  void execFileSync('mknod', [file, ...kind]);

/** Why a test that needs a device is skipped. */
export const unlessRoot: string | false = process.getuid?.() === 0 ? false : 'only root makes devices';
