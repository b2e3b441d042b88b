import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { PROJECT_FOLDER } from '#build/vite-config.ts';

/**
 * Fails if a file differs from the text generated from its source. With --write, it updates the file instead.
 * @param check the check in checks/
 */
export function expectCurrent(file: string, text: string, source: string, check: string): void {
  const whole = path.join(PROJECT_FOLDER, file);
  if (readFileSync(whole, 'utf8') === text) return;
  if (process.argv.includes('--write')) return writeFileSync(whole, text);
  process.stderr.write(`${file} differs from ${source}. Run node checks/${check} --write.\n`);
  process.exitCode = 1;
}
