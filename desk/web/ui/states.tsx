import type { UseQueryResult, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { retry, type Retryable } from '#desk/web/queries.ts';
import { Button } from '#desk/web/ui/button.tsx';
import styles from '#desk/web/ui/states.module.css';

type QueryResultProps<Data> = {
  readonly of: Pick<UseQueryResult<Data>, 'data' | 'error'> & Retryable;
  readonly lines?: number;
  readonly children: (data: Data) => ReactNode;
};

export function QueryResult<Data>({ of, lines = 4, children }: QueryResultProps<Data>) {
  const { data, error } = of;
  return (
    <>
      {error && <FailedState error={error} onRetry={() => retry(of)} />}
      {data === undefined ? !error && <Skeleton lines={lines} /> : children(data)}
    </>
  );
}

export function PagedResult<Data>({
  of,
  children,
}: {
  readonly of: UseInfiniteQueryResult<Data>;
  readonly children: (pages: Data) => ReactNode;
}) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = of;
  return (
    <>
      {data === undefined ? error === null && <Skeleton lines={6} /> : children(data)}
      {error !== null && <FailedState error={error} onRetry={() => retry(of)} />}
      {hasNextPage && error === null && (
        <MoreButton isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()} />
      )}
    </>
  );
}

type MoreButtonProps = {
  readonly isBusy?: boolean;
  readonly onClick: () => void;
  readonly children?: string;
};

export const MoreButton = ({ isBusy = false, onClick, children = 'Show more' }: MoreButtonProps) => (
  <Button className={styles.more} isBusy={isBusy} onClick={onClick}>
    {children}
  </Button>
);

type FailedProps = { readonly error: Error; readonly onRetry: () => void };

export function FailedState({ error, onRetry }: FailedProps) {
  return (
    <div className={`panel ${styles.failed}`} role="alert">
      <p className={styles.title}>This could not be loaded</p>
      <p>{error.message}</p>
      <div className={`row ${styles.actions}`}>
        <Button onClick={onRetry}>Try again</Button>
      </div>
    </div>
  );
}

type EmptyProps = { readonly title?: string; readonly text: string; readonly children?: ReactNode };

export function EmptyState({ title, text, children }: EmptyProps) {
  return (
    <div className={`panel quiet ${styles.empty}`}>
      {title !== undefined && <p className={styles.title}>{title}</p>}
      <p>{text}</p>
      {children && <div className={`row links ${styles.actions}`}>{children}</div>}
    </div>
  );
}

export function Skeleton({ lines }: { readonly lines: number }) {
  return (
    <div className={`stack ${styles.skeleton}`} role="status">
      <span className="unseen">Loading …</span>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} className={styles.line} aria-hidden />
      ))}
    </div>
  );
}
