// Asks for the mail's delivery status until it is final, only while the page is visible and online.
import { useEffect, useState } from 'react';

import { timeNow } from '#shared/clock.ts';
import type { MailStatus } from '#shared/api.ts';
import { fetchMailStatus } from '#web/api-client.ts';
import type { Challenge } from '#web/stage.ts';

/** `late`: sent after a delay. */
export type ShownMailStatus = MailStatus | 'late';

export function useMailStatus({ id, askedAt }: Pick<Challenge, 'id' | 'askedAt'>): ShownMailStatus {
  const code = `${id} ${askedAt}`;
  const [known, setKnown] = useState<{ readonly code: string; readonly status: ShownMailStatus }>({
    code,
    status: 'waiting',
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
      // The timer may have started while the page was visible.
      if (document.hidden || !navigator.onLine) return;
      lastAskAt = Math.max(timeNow(), nextAskAt(askedAt, lastAskAt) ?? 0);
      const status = await fetchMailStatus(id);
      if (over) return;
      if (status !== null) {
        over = status === 'sent' || status === 'refused';
        setKnown((before) => ({
          code,
          status:
            status === 'sent' && before.code === code && ['delayed', 'late'].includes(before.status)
              ? 'late'
              : status,
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

  return known.code === code ? known.status : 'waiting';
}

/** Milliseconds after the request for the code. Most mail leaves within a second, delayed mail within minutes. */
const ASK_AFTER_MS = [3_000, 8_000, 20_000, 45_000, 90_000, 180_000];

/**
 * Returns the first time after the last query, so missed times lead to only one query; null after the last one. All times are milliseconds
 * since 1970. Before the first query, `lastAskAt` is `askedForCodeAt`.
 */
export function nextAskAt(askedForCodeAt: number, lastAskAt: number): number | null {
  const after = ASK_AFTER_MS.find((ms) => askedForCodeAt + ms > lastAskAt);
  return after === undefined ? null : askedForCodeAt + after;
}
