import { QueryClientProvider, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import type { Me } from '#desk/endpoints/auth.ts';
import { Enter } from '#desk/web/sign-in/enter.tsx';
import { SignIn } from '#desk/web/sign-in/sign-in.tsx';
import { Frame } from '#desk/web/frame/frame.tsx';
import { pagesFor } from '#desk/web/pages.tsx';
import { PersonContext, createQueryClient, forgetPerson, useWhoIsIn } from '#desk/web/queries.ts';
import { usePlace, Link } from '#desk/web/router.tsx';
import { Answered, EmptyState } from '#desk/web/ui/states.tsx';
import { NoticeProvider } from '#desk/web/ui/notice.tsx';
import styles from '#desk/web/frame/frame.module.css';
import { Page } from '#desk/web/ui/page.tsx';

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
  const asked = useWhoIsIn();
  const person = asked.data;
  const [wasIn, setWasIn] = useState(false);
  if (person && !wasIn) setWasIn(true);
  useEndOfSession(person);

  if (path === '/enter') return <Enter />;
  if (person === null) return <SignIn hasEnded={wasIn} onLeave={() => setWasIn(false)} />;
  if (person === undefined)
    return (
      <main className={styles.alone}>
        <Answered of={asked} lines={6}>
          {() => null}
        </Answered>
      </main>
    );
  const page = pagesFor(person.role).find((one) => one.path === path);
  return (
    <PersonContext value={person}>
      <Frame key={person.email}>{page === undefined ? <NotFound /> : <page.Page key={page.path} />}</Frame>
    </PersonContext>
  );
}

function useEndOfSession(person: Me | null | undefined): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!person) return undefined;
    const timer = setTimeout(() => forgetPerson(client), person.sessionEndsInMs);
    return () => clearTimeout(timer);
  }, [client, person]);
}

function NotFound() {
  return (
    <Page title="This page does not exist">
      <EmptyState text="The URL may be mistyped or belong to another version of the desk.">
        <Link href="/">Go to Today</Link>
      </EmptyState>
    </Page>
  );
}
