// Fetches files with scripts, because links cannot send headers (ask.ts) or show failures on the page.
import { CallError, errorOf, fetchFromDesk, BROKEN, OFFLINE } from '#desk/web/ask.ts';

/** By then, the browser has read the file. */
const TAKEN_AFTER_MS = 60_000;

async function fetchFile(
  url: string,
  signal?: AbortSignal,
): Promise<{ readonly file: Blob; readonly name: string | undefined }> {
  const response = await fetchFromDesk(url, { ...(signal && { signal }) }).catch(() => {
    throw new CallError(OFFLINE);
  });
  if (!response.ok) throw await errorOf(response);
  // A partial file is discarded, because it would look complete.
  const file = await response.blob().catch(() => {
    throw new CallError(BROKEN);
  });
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1];
  return { file, name };
}

function handFile(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = urlOf(file);
  link.download = name;
  link.click();
}

function urlOf(file: Blob): string {
  const url = URL.createObjectURL(file);
  setTimeout(() => URL.revokeObjectURL(url), TAKEN_AFTER_MS);
  return url;
}

/** Call this directly in a click handler. */
export async function openFile(
  url: string,
  name: string,
  how: 'save' | 'show',
  signal?: AbortSignal,
): Promise<void> {
  // Opened before waiting, because browsers block later pop-ups.
  const tab = how === 'show' ? window.open('about:blank') : null;
  try {
    const { file, name: given = name } = await fetchFile(url, signal);
    if (tab === null) handFile(file, given);
    else tab.location.href = urlOf(file);
  } catch (error) {
    tab?.close();
    throw error;
  }
}
