// The last step of `npm run restart`: asks the running primary (primary.js) for a new worker, waits, and prints the outcome.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { errorCode } from '#server/platform/error-code.ts';
import { endWithSentence } from '#server/platform/machine-failures.ts';
import { readRunning, runningFile } from '#server/restart/running-page.js';

const LOOK_EVERY_MS = 50;
/** A primary that has not noted the signal by then is stopped, or cannot write its file. */
const HEARD_WITHIN_MS = 10_000;

endWithSentence();
const file = runningFile();
const before = readRunning(file);
if (before === null)
  end(1, `No page that "npm start" began is running (${file} knows of none). Use "npm start".`);
// A worker that another caller asks for between our look and our signal starts after our build too, so it will do.
askFor(before.pid);
const toBeHeardBy = Date.now() + HEARD_WITHIN_MS;
for (;;) {
  const now = readRunning(file);
  if (now === null || now.pid !== before.pid)
    end(1, 'The page ended meanwhile. Its log says why; start it again with "npm start".');
  if (now.asked === before.asked && Date.now() > toBeHeardBy)
    end(
      1,
      `The process that keeps the port (${now.pid}) has not answered in ${file} within ${HEARD_WITHIN_MS / 1000} seconds. Look whether it runs (ps -o pid,stat,args -p ${now.pid}), and whether that file can be written.`,
    );
  if (now.answered > before.asked) {
    if (now.outcome === 'refused')
      end(
        1,
        `The page was not restarted; what ran goes on serving. The new one says:\n${now.sentence.trim()}`,
      );
    const primary = createHash('sha256')
      .update(readFileSync(path.join(import.meta.dirname, '..', 'primary.js')))
      .digest('base64url');
    const late =
      primary === now.code
        ? ''
        : ' The part that keeps the port is still that of an earlier release, until the next "npm start".';
    const how = now.sentence === '' ? '; its port stayed open all the while.' : `. ${now.sentence}`;
    // A primary of an earlier release writes none.
    const warnings = (now.warnings ?? []).map((warning) => `\nWarning: ${warning}`).join('');
    end(0, `The page was restarted${how}${late}${warnings}`);
  }
  await setTimeout(LOOK_EVERY_MS);
}

/** @param pid of the primary */
function askFor(pid: number): void {
  try {
    process.kill(pid, 'SIGHUP');
  } catch (error) {
    const code = errorCode(error);
    // It has ended, as the next look finds.
    if (code === 'ESRCH') return;
    if (code !== 'EPERM') throw error;
    end(1, `The page runs as another user (process ${pid}). Restart it as that user, or as root.`);
  }
}

function end(code: number, sentence: string): never {
  (code === 0 ? process.stdout : process.stderr).write(`${sentence}\n`);
  process.exit(code);
}
