import { QueryClientProvider, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import type { Me } from '#desk/endpoints/auth.ts';
import { Enter } from '#desk/web/sign-in/enter.tsx';
import { SignIn } from '#desk/web/sign-in/sign-in.tsx';
import { Frame } from '#desk/web/frame/frame.tsx';
import { pagesFor } from '#desk/web/pages.tsx';
import { DeskUserContext, createQueryClient, forgetDeskUser, useCurrentUser } from '#desk/web/queries.ts';
import { useLocation, Link } from '#desk/web/router.tsx';
import { QueryResult, EmptyState } from '#desk/web/ui/states.tsx';
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
  const { path } = useLocation();
  const result = useCurrentUser();
  const user = result.data;
  const [wasSignedIn, setWasSignedIn] = useState(false);
  if (user && !wasSignedIn) setWasSignedIn(true);
  useSessionEnd(user);

  if (path === '/enter') return <Enter />;
  if (user === null) return <SignIn hasEnded={wasSignedIn} onSignedIn={() => setWasSignedIn(false)} />;
  if (user === undefined)
    return (
      <main className={styles.alone}>
        <QueryResult of={result} lines={6}>
          {() => null}
        </QueryResult>
      </main>
    );
  const page = pagesFor(user.role).find((one) => one.path === path);
  return (
    <DeskUserContext value={user}>
      <Frame key={user.email}>{page === undefined ? <NotFound /> : <page.Page key={page.path} />}</Frame>
    </DeskUserContext>
  );
}

function useSessionEnd(user: Me | null | undefined): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!user) return undefined;
    const timer = setTimeout(() => forgetDeskUser(client), user.sessionEndsInMs);
    return () => clearTimeout(timer);
  }, [client, user]);
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
