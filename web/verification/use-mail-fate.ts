// Asks the server for the state of the mail that the visitor waits for: seldom (asking-times.ts), only while the page is visible
// and online, and not after the final answer.
import { useEffect, useState } from 'react';

import { timeNow } from '#shared/clock.ts';
import type { MailFate } from '#shared/api.ts';
import { fetchMailFate } from '#web/api-client.ts';
import type { Challenge } from '#web/stage.ts';
import { nextAskAt } from '#web/verification/asking-times.ts';

/** What the page shows; `late` means sent after a delay. */
export type ShownFate = MailFate | 'late';

/** The state of the mail of a challenge's newest code; `waiting` until the server has answered. */
export function useMailFate({ id, askedAt }: Pick<Challenge, 'id' | 'askedAt'>): ShownFate {
  const code = `${id} ${askedAt}`;
  const [known, setKnown] = useState<{ readonly code: string; readonly fate: ShownFate }>({
    code,
    fate: 'waiting',
  });

  useEffect(() => {
    if (id === '') return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let over = false;
    let lastAskAt = askedAt;

    const plan = () => {
      clearTimeout(timer);
      const next = nextAskAt(askedAt, lastAskAt);
      if (over || next === null || document.hidden || !navigator.onLine) return;
      timer = setTimeout(() => void ask(), Math.max(0, next - timeNow()));
    };
    const ask = async () => {
      // The timer may have been set while the page was visible.
      if (document.hidden || !navigator.onLine) return;
      lastAskAt = Math.max(timeNow(), nextAskAt(askedAt, lastAskAt) ?? 0);
      const fate = await fetchMailFate(id);
      if (over) return;
      if (fate !== null) {
        over = fate === 'sent' || fate === 'refused';
        setKnown((before) => ({
          code,
          fate:
            fate === 'sent' && before.code === code && ['delayed', 'late'].includes(before.fate)
              ? 'late'
              : fate,
        }));
      }
      plan();
    };

    plan();
    document.addEventListener('visibilitychange', plan);
    window.addEventListener('online', plan);
    return () => {
      over = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', plan);
      window.removeEventListener('online', plan);
    };
  }, [id, askedAt, code]);

  return known.code === code ? known.fate : 'waiting';
}
