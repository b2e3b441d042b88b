import { useMemo, useState } from 'react';

import { domains } from '#desk/endpoints/people.ts';
import { mergeDomains, type Company } from '#desk/web/companies/sums.ts';
import { leadsUrl } from '#desk/web/leads/filter.ts';
import { Link } from '#desk/web/router.tsx';
import { useDeskPages, useFetchNextPages } from '#desk/web/queries.ts';
import { ShareBar } from '#desk/web/ui/bars.tsx';
import { Button } from '#desk/web/ui/button.tsx';
import { QueryResult } from '#desk/web/ui/states.tsx';
import { Field } from '#desk/web/ui/fields.tsx';
import { Page } from '#desk/web/ui/page.tsx';
import { Table, type Column } from '#desk/web/ui/table.tsx';
import styles from '#desk/web/companies/companies.module.css';
import { counted, number } from '#desk/web/format.ts';

const PAGE_STEP = 100;

export function Companies() {
  const result = useDeskPages(domains, {});
  const { data, error, isFetching, hasNextPage } = result;
  // Totals are only complete after the last page.
  useFetchNextPages(result, hasNextPage && error === null);
  const all = useMemo(() => mergeDomains(data ?? []), [data]);
  const leads = all.reduce((sum, { people }) => sum + people, 0);
  const [search, setSearch] = useState('');
  const [shown, setShown] = useState(PAGE_STEP);
  const found = all.filter(({ domain }) => domain.includes(search.trim().toLowerCase()));
  const most = all[0]?.people ?? 0;
  const isCounting = isFetching || hasNextPage;

  return (
    <Page
      title="Companies"
      lead="Leads by the domain of their e-mail address, including suppressed leads but excluding large mail services."
    >
      <div className={`stack ${styles.companies}`}>
        <QueryResult of={result} lines={10}>
          {() =>
            !isCounting &&
            all.length === 0 && <p className="quiet">No lead has an address at a company’s domain yet.</p>
          }
        </QueryResult>
        {all.length > 0 && (
          <>
            <Field
              className={styles.search}
              label="Search for a domain"
              type="search"
              value={search}
              onChange={(event) => {
                setSearch(event.currentTarget.value);
                setShown(PAGE_STEP);
              }}
            />
            <p role="status" className="quiet small">
              {isCounting
                ? `Counting: ${counted(leads, 'lead')} so far …`
                : `${counted(found.length, 'domain')}.`}
            </p>
            <Table
              caption="Companies"
              columns={columnsFor(most)}
              rows={found.slice(0, shown)}
              rowKey={({ domain }) => domain}
              empty="No lead has an address at a matching domain."
              isStale={isCounting}
            />
            {found.length > shown && (
              <div className={styles.end}>
                <Button onClick={() => setShown(shown + PAGE_STEP)}>Show more</Button>
              </div>
            )}
          </>
        )}
      </div>
    </Page>
  );
}

const columnsFor = (most: number): readonly Column<Company>[] => [
  {
    heading: 'Domain',
    isMain: true,
    cell: ({ domain }) => <Link href={leadsUrl({ domain })}>{domain}</Link>,
  },
  { heading: 'Leads', isNumber: true, cell: ({ people }) => number(people) },
  {
    heading: 'Compared with the largest',
    isDecoration: true,
    cell: ({ people }) => (
      <span className={styles.bar}>
        <ShareBar share={people / most} />
      </span>
    ),
  },
];
