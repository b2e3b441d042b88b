import { useEffect, useMemo, useState } from 'react';

import { domains } from '#desk/endpoints/people.ts';
import { sumsOf, type Company } from '#desk/web/companies/sums.ts';
import { listAddress } from '#desk/web/leads/filter.ts';
import { Link } from '#desk/web/link.tsx';
import { retry, usePagesOf } from '#desk/web/pages-of.ts';
import { ShareBar } from '#desk/web/ui/bars.tsx';
import { Button } from '#desk/web/ui/button.tsx';
import { EmptyState } from '#desk/web/ui/empty-state.tsx';
import { FailedState } from '#desk/web/ui/failed-state.tsx';
import { Field } from '#desk/web/ui/fields.tsx';
import { Page } from '#desk/web/ui/page.tsx';
import { Skeleton } from '#desk/web/ui/skeleton.tsx';
import { Table, type Column } from '#desk/web/ui/table.tsx';
import { companies as words, number, pages } from '#desk/web/words.ts';
import styles from '#desk/web/companies/companies.module.css';

const STEP = 100;

export function Companies() {
  const asked = usePagesOf(domains, {});
  const { data, error, isFetching, hasNextPage, fetchNextPage } = asked;
  // Sums are only complete after the last part.
  useEffect(() => {
    if (hasNextPage && !isFetching && error === null) void fetchNextPage();
  }, [hasNextPage, isFetching, error, fetchNextPage]);
  const all = useMemo(() => sumsOf(data?.pages ?? []), [data]);
  const leads = all.reduce((sum, { people }) => sum + people, 0);
  const [search, setSearch] = useState('');
  const [shown, setShown] = useState(STEP);
  const found = all.filter(({ domain }) => domain.includes(search.trim().toLowerCase()));
  const most = all[0]?.people ?? 0;
  const columns = useMemo(() => columnsWith(most), [most]);
  const isCounting = isFetching || hasNextPage;

  return (
    <Page title={pages.companies} lead={words.lead}>
      <div className={styles.companies}>
        {error && <FailedState error={error} onRetry={() => retry(asked)} />}
        {data === undefined && !error && <Skeleton lines={10} />}
        {data !== undefined && !isCounting && all.length === 0 && <EmptyState text={words.none} />}
        {all.length > 0 && (
          <>
            <Field
              className={styles.search}
              label={words.search}
              type="search"
              value={search}
              onChange={(event) => {
                setSearch(event.currentTarget.value);
                setShown(STEP);
              }}
            />
            <p role="status" className={styles.state}>
              {isCounting ? words.counting(leads) : words.counted(found.length)}
            </p>
            {found.length === 0 ? (
              <EmptyState text={words.nothingFound} />
            ) : (
              <Table
                caption={pages.companies}
                columns={columns}
                rows={found.slice(0, shown)}
                rowKey={({ domain }) => domain}
                isStale={isCounting}
              />
            )}
            {found.length > shown && (
              <div className={styles.end}>
                <Button onClick={() => setShown(shown + STEP)}>{words.more}</Button>
              </div>
            )}
          </>
        )}
      </div>
    </Page>
  );
}

const columnsWith = (most: number): readonly Column<Company>[] => [
  {
    id: 'domain',
    heading: words.domain,
    isMain: true,
    cell: ({ domain }) => <Link href={listAddress({ domain })}>{domain}</Link>,
  },
  { id: 'people', heading: words.people, isNumber: true, cell: ({ people }) => number(people) },
  {
    id: 'share',
    heading: words.share,
    isDecoration: true,
    cell: ({ people }) => (
      <span className={styles.bar}>
        <ShareBar share={people / most} />
      </span>
    ),
  },
];
