import * as RadixDialog from '@radix-ui/react-dialog';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';

import { signOut } from '#desk/endpoints/auth.ts';
import { Link, useLocation } from '#desk/web/router.tsx';
import { pagesFor } from '#desk/web/pages.tsx';
import { useDeskUser, forgetDeskUser, useDeskMutation } from '#desk/web/queries.ts';
import { handleShortcut } from '#desk/web/frame/shortcuts.ts';
import { Button, ThemeButton } from '#desk/web/ui/button.tsx';
import { Backdrop } from '#desk/web/ui/dialog.tsx';
import { ExternalIcon, MenuIcon, SignOutIcon } from '#desk/web/ui/icons.tsx';
import { useNotice } from '#desk/web/ui/notice.tsx';
import styles from '#desk/web/frame/frame.module.css';
import { Mark } from '#web/frame/mark.tsx';
import { CloseIcon } from '#web/ui/icons.tsx';
import { ROLE_NAMES } from '#desk/web/format.ts';

const CONTENT = 'content';

export function Frame({ children }: { readonly children: ReactNode }) {
  useEffect(() => {
    document.addEventListener('keydown', handleShortcut);
    return () => document.removeEventListener('keydown', handleShortcut);
  }, []);
  return (
    <div className={styles.frame}>
      <a className={styles.skip} href={`#${CONTENT}`}>
        Skip to content
      </a>
      <header className={`apart ${styles.bar}`}>
        <Brand />
        <Menu />
      </header>
      <aside className={styles.side}>
        <Brand />
        <Navigation />
        <UserPanel />
      </aside>
      <main id={CONTENT} tabIndex={-1} className={styles.main}>
        {children}
      </main>
    </div>
  );
}

function Brand() {
  const { title } = useDeskUser();
  return (
    <Link className="brand" href="/">
      <Mark />
      <span className={styles.names}>
        Desk
        <small className={styles.campaign}>{title}</small>
      </span>
    </Link>
  );
}

function Navigation({ onNavigate }: { readonly onNavigate?: () => void }) {
  const { path } = useLocation();
  const { role } = useDeskUser();
  const pages = pagesFor(role);
  const current = pages.find((page) => page.path === path)?.menuPath ?? path;
  return (
    <nav aria-label="Pages of the desk" className={styles.navigation}>
      <ul>
        {pages.map(
          ({ path: to, name, Icon, startsGroup }) =>
            Icon && (
              <li key={to} data-begins={startsGroup}>
                <Link href={to} aria-current={to === current ? 'page' : undefined} onClick={onNavigate}>
                  <Icon size={18} />
                  {name}
                </Link>
              </li>
            ),
        )}
      </ul>
    </nav>
  );
}

function UserPanel() {
  const { email, role, publicUrl } = useDeskUser();
  const client = useQueryClient();
  const { showNotice } = useNotice();
  const signingOut = useDeskMutation(signOut);
  return (
    <div className={styles.person}>
      <p className={styles.who}>
        <span className={styles.email} title={email ?? undefined}>
          {email ?? 'On this computer'}
        </span>
        <small>{ROLE_NAMES[role]}</small>
      </p>
      <div className={styles.tools}>
        <ThemeButton />
        <a className={styles.tool} href={publicUrl} target="_blank" rel="noreferrer" title="Open the page">
          <ExternalIcon size={18} />
          <span className="unseen">Open the page</span>
        </a>
        <Button
          look="icon"
          title="Sign out"
          aria-label="Sign out"
          isBusy={signingOut.isPending}
          onClick={() =>
            signingOut.mutate(
              {},
              {
                onSuccess: () => forgetDeskUser(client),
                onError: ({ message }) => showNotice(message, 'problem'),
              },
            )
          }
        >
          <SignOutIcon size={18} />
        </Button>
      </div>
    </div>
  );
}

function Menu() {
  const [open, setOpen] = useState(false);
  const { hideNotice } = useNotice();
  const toggle = (next: boolean) => {
    // Otherwise the notice would cover the last buttons in the menu.
    if (next) hideNotice();
    setOpen(next);
  };
  return (
    <RadixDialog.Root open={open} onOpenChange={toggle}>
      <RadixDialog.Trigger asChild>
        <Button look="plain" aria-label="Open the menu">
          <MenuIcon size={18} />
          Menu
        </Button>
      </RadixDialog.Trigger>
      <RadixDialog.Portal>
        <Backdrop />
        <RadixDialog.Content className={styles.sheet} aria-modal aria-describedby={undefined}>
          <div className="apart">
            <RadixDialog.Title className={styles.sheetTitle}>Menu</RadixDialog.Title>
            <RadixDialog.Close asChild>
              <Button look="icon" aria-label="Close">
                <CloseIcon size={18} />
              </Button>
            </RadixDialog.Close>
          </div>
          <Navigation onNavigate={() => setOpen(false)} />
          <UserPanel />
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}
