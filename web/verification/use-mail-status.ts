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
    let lastPollAt = askedAt;

    const schedule = () => {
      clearTimeout(timer);
      const next = nextPollAt(askedAt, lastPollAt);
      if (over || next === null || document.hidden || !navigator.onLine) return;
      timer = setTimeout(() => void poll(), Math.max(0, next - timeNow()));
    };
    const poll = async () => {
      // The timer may have started while the page was visible.
      if (document.hidden || !navigator.onLine) return;
      lastPollAt = Math.max(timeNow(), nextPollAt(askedAt, lastPollAt) ?? 0);
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
      schedule();
    };

    schedule();
    document.addEventListener('visibilitychange', schedule);
    window.addEventListener('online', schedule);
    return () => {
      over = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', schedule);
      window.removeEventListener('online', schedule);
    };
  }, [id, askedAt, code]);

  return known.code === code ? known.status : 'waiting';
}

/** Milliseconds after the code was requested. Most mail leaves within a second, delayed mail within minutes. */
const POLL_AFTER_MS = [3_000, 8_000, 20_000, 45_000, 90_000, 180_000];

/**
 * Returns the first polling time after the last poll, so missed times lead to only one poll; null after the last time. All times
 * are milliseconds since 1970. Before the first poll, `lastPollAt` is `askedForCodeAt`.
 */
export function nextPollAt(askedForCodeAt: number, lastPollAt: number): number | null {
  const after = POLL_AFTER_MS.find((ms) => askedForCodeAt + ms > lastPollAt);
  return after === undefined ? null : askedForCodeAt + after;
}
