import { createContext, use, useEffect, useMemo, useState, type ReactNode } from 'react';

import { Button } from '#desk/web/ui/button.tsx';
import styles from '#desk/web/ui/notice.module.css';
import { CloseIcon } from '#web/ui/icons.tsx';

/** A problem stays visible until it is dismissed. */
export type NoticeKind = 'done' | 'problem';
type Notice = { readonly sentence: string; readonly kind: NoticeKind; readonly number: number };
type Notices = {
  readonly showNotice: (sentence: string, kind?: NoticeKind) => void;
  /** Hides the notice unless it is a problem. */
  readonly hideNotice: () => void;
};

const SHOWN_MS = 8_000;

const NoticeContext = createContext<Notices>({ showNotice: () => {}, hideNotice: () => {} });

export const useNotice = (): Notices => use(NoticeContext);

export function NoticeProvider({ children }: { readonly children: ReactNode }) {
  const [notice, setNotice] = useState<Notice | null>(null);
  const [isHovered, setHovered] = useState(false);
  const notices = useMemo<Notices>(
    () => ({
      showNotice: (sentence, kind = 'done') =>
        setNotice((before) => ({ sentence, kind, number: (before?.number ?? 0) + 1 })),
      hideNotice: () => setNotice((before) => (before?.kind === 'problem' ? before : null)),
    }),
    [],
  );
  useEffect(() => {
    if (notice === null || notice.kind === 'problem' || isHovered) return undefined;
    const timer = setTimeout(() => setNotice(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [notice, isHovered]);
  return (
    <NoticeContext value={notices}>
      {children}
      <div className={styles.region} role="region" aria-label="Announcements" aria-live="polite">
        {notice && (
          <div
            key={notice.number}
            className={`panel ${styles.notice} ${notice.kind === 'problem' ? styles.problem : ''}`}
            onPointerEnter={() => setHovered(true)}
            onPointerLeave={() => setHovered(false)}
          >
            <p>{notice.sentence}</p>
            <Button
              look="icon"
              aria-label="Dismiss"
              onClick={() => {
                setHovered(false);
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
