// A button that saves a file of the server, or shows it. A failure is said in the corner.
import { useMutation, type UseMutationResult } from '@tanstack/react-query';

import { openFile } from '#desk/web/file.ts';
import { useNotice } from '#desk/web/ui/notice.tsx';

/** {@link openFile}, as a mutation. */
export function useFile(...file: Parameters<typeof openFile>): UseMutationResult<void> {
  const { say } = useNotice();
  return useMutation({
    mutationFn: () => openFile(...file),
    onError: ({ message }) => say(message, 'problem'),
  });
}
