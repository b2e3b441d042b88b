// Asks the server what became of the mail that the visitor waits for: seldom (asking-times.ts), only while somebody looks and
// there is a network, and no more once it is known.
import { useEffect, useState } from 'react';

import type { MailFate } from '#shared/api.ts';
import { fetchMailFate } from '#web/api-client.ts';
import type { Challenge } from '#web/stage.ts';
import { nextAskAt } from '#web/verification/asking-times.ts';

/** What is shown of it: `late` is sent after it was delayed. */
export type ShownFate = MailFate | 'late';

/** What became of the mail of a challenge's newest code, as far as it is known; `waiting` before. */
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
      timer = setTimeout(() => void ask(), Math.max(0, next - Date.now()));
    };
    const ask = async () => {
      // The timer may have been set before.
      if (document.hidden || !navigator.onLine) return;
      lastAskAt = Math.max(Date.now(), nextAskAt(askedAt, lastAskAt) ?? 0);
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
