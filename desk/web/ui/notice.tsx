import { createContext, use, useEffect, useMemo, useState, type ReactNode } from 'react';

import { Button } from '#desk/web/ui/button.tsx';
import styles from '#desk/web/ui/notice.module.css';
import { CloseIcon } from '#web/ui/icons.tsx';

type Kind = 'done' | 'problem';
type Notice = { readonly sentence: string; readonly kind: Kind; readonly number: number };
type Notices = {
  readonly say: (sentence: string, kind?: Kind) => void;
  /** Hides a notice, except a problem, before it covers something. */
  readonly hush: () => void;
};

const SHOWN_MS = 8_000;

const NoticeContext = createContext<Notices>({ say: () => {}, hush: () => {} });

export const useNotice = (): Notices => use(NoticeContext);

export function NoticeProvider({ children }: { readonly children: ReactNode }) {
  const [notice, setNotice] = useState<Notice | null>(null);
  const [isHeld, setHeld] = useState(false);
  const notices = useMemo<Notices>(
    () => ({
      say: (sentence, kind = 'done') =>
        setNotice((before) => ({ sentence, kind, number: (before?.number ?? 0) + 1 })),
      hush: () => setNotice((before) => (before?.kind === 'problem' ? before : null)),
    }),
    [],
  );
  useEffect(() => {
    if (notice === null || notice.kind === 'problem' || isHeld) return undefined;
    const timer = setTimeout(() => setNotice(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [notice, isHeld]);
  return (
    <NoticeContext value={notices}>
      {children}
      <div className={styles.region} role="region" aria-label="Announcements" aria-live="polite">
        {notice && (
          <div
            key={notice.number}
            className={`panel ${styles.notice} ${notice.kind === 'problem' ? styles.problem : ''}`}
            onPointerEnter={() => setHeld(true)}
            onPointerLeave={() => setHeld(false)}
          >
            <p>{notice.sentence}</p>
            <Button
              look="icon"
              aria-label="Dismiss"
              onClick={() => {
                setHeld(false);
                setNotice(null);
              }}
            >
              <CloseIcon size={16} />
            </Button>
          </div>
        )}
      </div>
    </NoticeContext>
  );
}
