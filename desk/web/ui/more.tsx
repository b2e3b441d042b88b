import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { retry } from '#desk/web/pages-of.ts';
import { Button } from '#desk/web/ui/button.tsx';
import { FailedState } from '#desk/web/ui/failed-state.tsx';
import { Skeleton } from '#desk/web/ui/skeleton.tsx';
import { parts as words } from '#desk/web/words.ts';
import styles from '#desk/web/ui/more.module.css';

export function More<Answered>({
  of,
  children,
}: {
  readonly of: UseInfiniteQueryResult<InfiniteData<Answered>>;
  readonly children: (pages: readonly Answered[]) => ReactNode;
}) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = of;
  return (
    <>
      {data === undefined ? error === null && <Skeleton lines={6} /> : children(data.pages)}
      {error !== null && <FailedState error={error} onRetry={() => retry(of)} />}
      {hasNextPage && error === null && (
        <Button
          className={styles.more}
          aria-busy={isFetchingNextPage || undefined}
          onClick={() => {
            if (!isFetchingNextPage) void fetchNextPage();
          }}
        >
          {words.more}
        </Button>
      )}
    </>
  );
}
