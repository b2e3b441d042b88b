// The one translation from a failure to what is said about it (specification, section 8).
import type { Interface } from '#shared/campaign-schema.ts';
import { ApiError, TimeLimitError } from '#web/api-client.ts';
import type { ToastContent } from '#web/ui/toast-state.ts';

/**
 * The toast for a failed call: the server's message if it sent one, else the words'. A document is no message.
 * @param words of `toasts` in campaign/interface.yaml, for the call that failed
 */
export function failureToast(
  { title, description, timedOut }: Interface['toasts']['submissionFailed'],
  error: unknown,
): ToastContent {
  const variant = 'destructive';
  if (error instanceof ApiError && error.body)
    return { title, prefix: `${error.status}: `, description: error.body, variant };
  return { title, description: error instanceof TimeLimitError ? timedOut : description, variant };
}
