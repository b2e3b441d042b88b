import { useEffect, useState } from 'react';

import { Button } from '#desk/web/ui/button.tsx';
import styles from '#desk/web/ui/copy-button.module.css';
import { copy as words } from '#desk/web/words.ts';

const SAID_MS = 2_000;

type CopyState = 'ready' | 'copied' | 'failed';
const LABELS: Readonly<Record<CopyState, string>> = {
  ready: words.copy,
  copied: words.copied,
  failed: words.failed,
};

export function CopyButton({ text, name }: { readonly text: string; readonly name: string }) {
  const [state, setState] = useState<CopyState>('ready');
  useEffect(() => {
    if (state === 'ready') return undefined;
    const timer = setTimeout(() => setState('ready'), SAID_MS);
    return () => clearTimeout(timer);
  }, [state]);
  return (
    <>
      <Button
        className={styles.copy}
        aria-label={words.copyOf(name)}
        onClick={() => {
          // Browsers offer no clipboard on plain http.
          const done = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'));
          done.then(
            () => setState('copied'),
            () => setState('failed'),
          );
        }}
      >
        {LABELS[state]}
      </Button>
      <span className="unseen" role="status">
        {state === 'ready' ? '' : LABELS[state]}
      </span>
    </>
  );
}
