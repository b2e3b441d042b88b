import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { FailedState } from '#desk/web/ui/failed-state.tsx';
import { Skeleton } from '#desk/web/ui/skeleton.tsx';

type AnsweredProps<Data> = {
  readonly of: UseQueryResult<Data>;
  readonly lines?: number;
  readonly children: (data: Data) => ReactNode;
};

export function Answered<Data>({ of: { data, error, refetch }, lines = 4, children }: AnsweredProps<Data>) {
  return (
    <>
      {error && <FailedState error={error} onRetry={() => void refetch()} />}
      {data === undefined ? !error && <Skeleton lines={lines} /> : children(data)}
    </>
  );
}
