import { useMutation, type UseMutationResult } from '@tanstack/react-query';

import { openFile } from '#desk/web/file.ts';
import { useNotice } from '#desk/web/ui/notice.tsx';

export function useFile(...file: Parameters<typeof openFile>): UseMutationResult<void> {
  const { say } = useNotice();
  return useMutation({
    mutationFn: () => openFile(...file),
    onError: ({ message }) => say(message, 'problem'),
  });
}
