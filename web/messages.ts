// The one translation from a failure to what is said about it (specification, section 8).
import type { Interface } from '#shared/campaign-schema.ts';
import { ApiError } from '#web/api-client.ts';
import type { ToastContent } from '#web/ui/toast-state.ts';

/**
 * The toast for a failed call: the server's message if it sent one, else the words'.
 * @param words of `toasts` in campaign/interface.yaml, for the call that failed
 */
export function failureToast(words: Interface['toasts']['submissionFailed'], error: unknown): ToastContent {
  return error instanceof ApiError && error.body !== ''
    ? { title: words.title, prefix: `${error.status}: `, description: error.body, variant: 'destructive' }
    : { ...words, variant: 'destructive' };
}
