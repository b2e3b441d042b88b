// Reads the token from `desk open` in the URL's fragment, which is never sent, and clears the fragment.
import { useEffect, useRef, useState } from 'react';

import { enterLink } from '#desk/endpoints/auth.ts';
import { useReloadDeskUser, useDeskMutation } from '#desk/web/queries.ts';
import { navigate } from '#desk/web/router.tsx';
import { SignInLayout } from '#desk/web/sign-in/sign-in.tsx';
import styles from '#desk/web/sign-in/sign-in.module.css';

function takeToken(): string {
  const token = location.hash.slice(1);
  if (token !== '') history.replaceState(null, '', '/enter');
  return token;
}

export function Enter() {
  const reloadUser = useReloadDeskUser(() => navigate('/', { replace: true }));
  const [token] = useState(takeToken);
  const { mutate, error } = useDeskMutation(enterLink);
  // In development, React mounts twice, but a token works once.
  const isUsed = useRef(false);
  useEffect(() => {
    if (token === '' || isUsed.current) return;
    isUsed.current = true;
    mutate({ token }, { onSuccess: reloadUser });
  });

  if (token !== '' && error === null) return <SignInLayout title="Opening the desk" text="One moment …" />;
  return (
    <SignInLayout
      title="This link does not open the desk"
      text={
        error?.message ??
        'A link works only once, within ten minutes. To get a new link, stop the command and run it again:'
      }
    >
      <pre className={`panel ${styles.command}`}>npm run desk -- open</pre>
    </SignInLayout>
  );
}
