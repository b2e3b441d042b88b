import { QueryClientProvider, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import type { Me } from '#desk/endpoints/auth.ts';
import { Enter } from '#desk/web/sign-in/enter.tsx';
import { SignIn } from '#desk/web/sign-in/sign-in.tsx';
import { Frame } from '#desk/web/frame/frame.tsx';
import { NotFound } from '#desk/web/frame/not-found.tsx';
import { PAGES } from '#desk/web/pages.tsx';
import { PersonContext } from '#desk/web/person.ts';
import { createQueryClient, forgetPerson, useWhoIsIn } from '#desk/web/queries.ts';
import { usePlace } from '#desk/web/router.ts';
import { FailedState } from '#desk/web/ui/failed-state.tsx';
import { NoticeProvider } from '#desk/web/ui/notice.tsx';
import { Skeleton } from '#desk/web/ui/skeleton.tsx';
import styles from '#desk/web/app.module.css';

export function App() {
  const [client] = useState(createQueryClient);
  return (
    <QueryClientProvider client={client}>
      <NoticeProvider>
        <Desk />
      </NoticeProvider>
    </QueryClientProvider>
  );
}

function Desk() {
  const { path } = usePlace();
  const { data: person, error, refetch } = useWhoIsIn();
  const [wasIn, setWasIn] = useState(false);
  if (person && !wasIn) setWasIn(true);
  useEndOfSession(person);

  if (path === '/enter') return <Enter />;
  if (person === null) return <SignIn hasEnded={wasIn} onLeave={() => setWasIn(false)} />;
  if (person === undefined)
    return (
      <main className={styles.alone}>
        {error === null ? (
          <Skeleton lines={6} />
        ) : (
          <FailedState error={error} onRetry={() => void refetch()} />
        )}
      </main>
    );
  const page = PAGES.find((one) => one.path === path && (one.needs === 'read' || person.role === 'all'));
  return (
    <PersonContext value={person}>
      <Frame>{page === undefined ? <NotFound /> : <page.Page key={page.path} />}</Frame>
    </PersonContext>
  );
}

function useEndOfSession(person: Me | null | undefined): void {
  const client = useQueryClient();
  const endsAt = person?.sessionEndsAt;
  useEffect(() => {
    if (endsAt === undefined) return undefined;
    const timer = setTimeout(() => forgetPerson(client), Math.max(0, Date.parse(endsAt) - Date.now()));
    return () => clearTimeout(timer);
  }, [client, endsAt]);
}
