// The toasts of the specification, section 8, and the one translation from a failure to what is said about it.
import { ApiError } from '#web/api-client.ts';
import type { ToastContent } from '#web/ui/toast-state.ts';

export const CODE_SENT_TOAST: ToastContent = {
  title: 'Success!',
  description: 'Please check your email for the verification code.',
};

export const VERIFIED_TOAST: ToastContent = {
  title: 'Verified!',
  description: 'Access granted. Enjoy the content!',
};

const FAILURES = {
  submission: { title: 'Error', fallback: 'Failed to submit form. Please try again.' },
  verification: { title: 'Verification Failed', fallback: 'Invalid code. Please try again.' },
} as const;

/** The toast for a failed call: the server's message if it sent one, else the fallback sentence. */
export function failureToast(call: keyof typeof FAILURES, error: unknown): ToastContent {
  const { title, fallback } = FAILURES[call];
  return error instanceof ApiError && error.body !== ''
    ? { title, prefix: `${error.status}: `, description: error.body, variant: 'destructive' }
    : { title, description: fallback, variant: 'destructive' };
}
