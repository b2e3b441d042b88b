// Sign-in with a mailed code or a passkey. The page reacts in the same way to every e-mail address.
import type { UseMutationResult } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode } from 'react';

import { requestCode, enterCode } from '#desk/endpoints/auth.ts';
import { ApiError } from '#desk/web/api-client.ts';
import { canUsePasskeys } from '#desk/web/passkeys/passkeys.ts';
import { useSignInWithPasskey } from '#desk/web/passkeys/use-passkeys.ts';
import { useReloadDeskUser, useDeskMutation } from '#desk/web/queries.ts';
import { setNavigated } from '#desk/web/router.tsx';
import { Button, ThemeButton } from '#desk/web/ui/button.tsx';
import styles from '#desk/web/sign-in/sign-in.module.css';
import { timeNow } from '#shared/clock.ts';
import { codeDigits } from '#shared/code-digits.ts';
import { CODE_LENGTH } from '#shared/lengths-and-resend.ts';
import { tidyEmail } from '#shared/typed-input.ts';
import { Mark } from '#web/frame/mark.tsx';
import { TextField } from '#web/ui/field.tsx';
import { counted } from '#desk/web/format.ts';

type SignInProps = {
  readonly hasEnded: boolean;
  readonly onSignedIn: () => void;
};

type CodeRequest = { readonly email: string; readonly resendAt: number };

export function SignIn({ hasEnded, onSignedIn }: SignInProps) {
  const [codeRequest, setCodeRequest] = useState<CodeRequest | null>(null);
  const sending = useDeskMutation(requestCode);
  const request = (email: string) => {
    if (!sending.isPending)
      sending.mutate(
        { email },
        {
          onSuccess: ({ resendSeconds }) =>
            setCodeRequest({ email, resendAt: timeNow() + resendSeconds * 1000 }),
        },
      );
  };
  const goBack = () => {
    // Otherwise, a pending request would return to the code.
    sending.reset();
    setCodeRequest(null);
  };
  return codeRequest === null ? (
    <EmailStep hasEnded={hasEnded} sending={sending} onRequest={request} onSignedIn={onSignedIn} />
  ) : (
    <CodeStep
      codeRequest={codeRequest}
      sending={sending}
      onRequest={request}
      onBack={goBack}
      onSignedIn={onSignedIn}
    />
  );
}

export function SignInLayout({
  title,
  text,
  children,
}: {
  readonly title: string;
  readonly text: ReactNode;
  readonly children?: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  // Otherwise, screen readers would not notice that a session has ended.
  useEffect(() => {
    heading.current?.focus();
    setNavigated();
  }, []);
  return (
    <>
      <title>{`${title} – Desk`}</title>
      <header className={`apart ${styles.head}`}>
        <span className="brand">
          <Mark />
          <span className={styles.name}>Desk</span>
        </span>
        <ThemeButton />
      </header>
      <main className={styles.main}>
        <h1 ref={heading} tabIndex={-1} className={styles.title}>
          {title}
        </h1>
        <p className={`quiet ${styles.text}`}>{text}</p>
        {children}
      </main>
    </>
  );
}

type StepProps = {
  readonly sending: Pick<UseMutationResult, 'isPending' | 'error' | 'reset'>;
  readonly onRequest: (email: string) => void;
  readonly onSignedIn: () => void;
};

function EmailStep({ hasEnded, sending, onRequest, onSignedIn }: StepProps & Pick<SignInProps, 'hasEnded'>) {
  const [email, setEmail] = useState('');
  const [error, setError] = useState<string>();
  return (
    <SignInLayout
      title="Sign in to the desk"
      text={
        hasEnded
          ? 'Your session has ended. Sign in again to continue where you left off.'
          : 'Enter your e-mail address. If you have access, we will send a six-digit code to it.'
      }
    >
      <form
        className={`stack ${styles.form}`}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          const address = tidyEmail(email);
          if (/^[^\s@]+@[^\s@]+$/.test(address)) onRequest(address);
          else setError('Enter your e-mail address, such as ada@example.com.');
        }}
      >
        <TextField
          label="E-mail address"
          type="email"
          autoComplete="username"
          inputMode="email"
          value={email}
          error={error ?? sending.error?.message}
          onChange={(event) => {
            setEmail(event.currentTarget.value);
            setError(undefined);
            if (sending.error) sending.reset();
          }}
        />
        <Button look="primary" type="submit" className={styles.action} isBusy={sending.isPending}>
          {sending.isPending ? 'Sending …' : 'Send the code'}
        </Button>
      </form>
      {canUsePasskeys() && <UsePasskey onSignedIn={onSignedIn} />}
    </SignInLayout>
  );
}

function UsePasskey({ onSignedIn }: { readonly onSignedIn: () => void }) {
  const { mutate, isPending, error } = useSignInWithPasskey(onSignedIn);
  return (
    <div className={styles.passkey}>
      <Button className={styles.action} isBusy={isPending} onClick={() => mutate()}>
        {isPending ? 'Waiting for the browser …' : 'Use a passkey'}
      </Button>
      {error && (
        <p className={styles.problem} role="alert">
          {error.message}
        </p>
      )}
    </div>
  );
}

type CodeStepProps = StepProps & { readonly codeRequest: CodeRequest; readonly onBack: () => void };

function CodeStep({ codeRequest, sending, onRequest, onBack, onSignedIn }: CodeStepProps) {
  const reloadUser = useReloadDeskUser(onSignedIn);
  const [code, setCode] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const enter = useDeskMutation(enterCode);
  const seconds = useSecondsLeft(codeRequest.resendAt);
  useEffect(() => input.current?.focus(), []);

  const submit = (digits: string) => {
    if (digits.length !== CODE_LENGTH || enter.isPending) return;
    // The code is already used up.
    if (enter.isSuccess) return reloadUser();
    enter.mutate(
      { code: digits },
      {
        onSuccess: reloadUser,
        onError: (error) => {
          // Clears the digits, which would be refused again.
          if (error instanceof ApiError && error.code !== null) setCode('');
          input.current?.focus();
        },
      },
    );
  };

  return (
    <SignInLayout
      title="Enter the code"
      text={`If ${codeRequest.email} has access to the desk, you will receive a code. Enter it in this browser.`}
    >
      <form
        className={`stack ${styles.form}`}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit(code);
        }}
      >
        <div className={styles.code}>
          <TextField
            ref={input}
            label="Six-digit code"
            inputMode="numeric"
            autoComplete="one-time-code"
            enterKeyHint="done"
            value={code}
            error={enter.error?.message}
            onChange={(event) => {
              const digits = codeDigits(event.currentTarget.value);
              setCode(digits);
              if (enter.isError && digits !== '') enter.reset();
              submit(digits);
            }}
          />
        </div>
        <Button
          look="primary"
          type="submit"
          className={styles.action}
          disabled={code.length !== CODE_LENGTH}
          isBusy={enter.isPending}
        >
          {enter.isPending ? 'Signing in …' : 'Sign in'}
        </Button>
      </form>
      <p className={`row quiet small ${styles.more}`}>
        {seconds > 0 ? (
          <span>You can request a new code in {counted(seconds, 'second')}</span>
        ) : (
          <Button
            look="text"
            isBusy={sending.isPending}
            onClick={() => {
              input.current?.focus();
              onRequest(codeRequest.email);
            }}
          >
            Send a new code
          </Button>
        )}
        <Button look="text" onClick={onBack}>
          Use another address
        </Button>
      </p>
      {sending.error && (
        <p className={styles.problem} role="alert">
          {sending.error.message}
        </p>
      )}
    </SignInLayout>
  );
}

function useSecondsLeft(until: number): number {
  const [now, setNow] = useState(timeNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(timeNow()), 1000);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Math.ceil((until - now) / 1000));
}
