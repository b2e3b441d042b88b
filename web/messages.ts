import type { Interface } from '#shared/campaign-schema.ts';
import { ApiError, TimeLimitError } from '#web/api-client.ts';
import type { ToastContent } from '#web/ui/toast-store.ts';

/** The toast for an error (specification, section 8): the server's sentence, or the given words if it sent none. */
export function failureToast(
  { title, description, timedOut }: Interface['toasts']['submissionFailed'],
  error: unknown,
): ToastContent {
  const variant = 'destructive';
  if (error instanceof ApiError && error.body)
    return { title, prefix: `${error.status}: `, description: error.body, variant };
  return { title, description: error instanceof TimeLimitError ? timedOut : description, variant };
}
