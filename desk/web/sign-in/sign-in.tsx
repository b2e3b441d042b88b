// Sign-in with a mailed code or a passkey. The page reacts in the same way to every e-mail address.
import type { UseMutationResult } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode } from 'react';

import { askCode, enterCode } from '#desk/endpoints/auth.ts';
import { CallError } from '#desk/web/ask.ts';
import { canUsePasskeys } from '#desk/web/passkeys/passkeys.ts';
import { useEnterWithPasskey } from '#desk/web/passkeys/use-passkeys.ts';
import { useMeetPerson, useSend } from '#desk/web/queries.ts';
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
  readonly onLeave: () => void;
};

type Asked = { readonly email: string; readonly resendAt: number };

export function SignIn({ hasEnded, onLeave }: SignInProps) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const asking = useSend(askCode);
  const ask = (email: string) => {
    if (!asking.isPending)
      asking.mutate(
        { email },
        { onSuccess: ({ resendSeconds }) => setAsked({ email, resendAt: timeNow() + resendSeconds * 1000 }) },
      );
  };
  const goBack = () => {
    // Otherwise, a request that is still running would lead to its code again.
    asking.reset();
    setAsked(null);
  };
  return asked === null ? (
    <AddressStep hasEnded={hasEnded} asking={asking} onAsk={ask} onIn={onLeave} />
  ) : (
    <CodeStep asked={asked} asking={asking} onAsk={ask} onBack={goBack} onIn={onLeave} />
  );
}

export function Doorstep({
  title,
  text,
  children,
}: {
  readonly title: string;
  readonly text: ReactNode;
  readonly children?: ReactNode;
}) {
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
        <h1 className={styles.title}>{title}</h1>
        <p className={`quiet ${styles.text}`}>{text}</p>
        {children}
      </main>
    </>
  );
}

type StepProps = {
  readonly asking: Pick<UseMutationResult, 'isPending' | 'error' | 'reset'>;
  readonly onAsk: (email: string) => void;
  readonly onIn: () => void;
};

function AddressStep({ hasEnded, asking, onAsk, onIn }: StepProps & Pick<SignInProps, 'hasEnded'>) {
  const [email, setEmail] = useState('');
  const [complaint, setComplaint] = useState<string>();
  return (
    <Doorstep
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
          if (/^[^\s@]+@[^\s@]+$/.test(address)) onAsk(address);
          else setComplaint('Enter your e-mail address, such as ada@example.com.');
        }}
      >
        <TextField
          label="E-mail address"
          type="email"
          autoComplete="username"
          inputMode="email"
          value={email}
          error={complaint ?? asking.error?.message}
          onChange={(event) => {
            setEmail(event.currentTarget.value);
            setComplaint(undefined);
            if (asking.error) asking.reset();
          }}
        />
        <Button look="primary" type="submit" className={styles.action} isBusy={asking.isPending}>
          {asking.isPending ? 'Sending …' : 'Send the code'}
        </Button>
      </form>
      {canUsePasskeys() && <UsePasskey onIn={onIn} />}
    </Doorstep>
  );
}

function UsePasskey({ onIn }: { readonly onIn: () => void }) {
  const { mutate, isPending, error } = useEnterWithPasskey(onIn);
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

type CodeStepProps = StepProps & { readonly asked: Asked; readonly onBack: () => void };

function CodeStep({ asked, asking, onAsk, onBack, onIn }: CodeStepProps) {
  const meet = useMeetPerson(onIn);
  const [code, setCode] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const enter = useSend(enterCode);
  const seconds = useSecondsLeft(asked.resendAt);
  useEffect(() => input.current?.focus(), []);

  const submit = (digits: string) => {
    if (digits.length !== CODE_LENGTH || enter.isPending) return;
    // The code is already used up.
    if (enter.isSuccess) return meet();
    enter.mutate(
      { code: digits },
      {
        onSuccess: meet,
        onError: (error) => {
          // Clears the digits, which would be refused again.
          if (error instanceof CallError && error.code !== null) setCode('');
          input.current?.focus();
        },
      },
    );
  };

  return (
    <Doorstep
      title="Enter the code"
      text={`If ${asked.email} has access to the desk, you will receive a code. Enter it in this browser.`}
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
          <Button look="text" isBusy={asking.isPending} onClick={() => onAsk(asked.email)}>
            Send a new code
          </Button>
        )}
        <Button look="text" onClick={onBack}>
          Use another address
        </Button>
      </p>
      {asking.error && (
        <p className={styles.problem} role="alert">
          {asking.error.message}
        </p>
      )}
    </Doorstep>
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
