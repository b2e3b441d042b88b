// Fetches files with scripts, because links cannot send headers (ask.ts) or show failures on the page.
import { CallError, errorOf, fetchFromDesk, BROKEN, OFFLINE } from '#desk/web/ask.ts';

/** By then, the browser has read the file. */
const TAKEN_AFTER_MS = 60_000;

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
    const response = await fetchFromDesk(url, { ...(signal && { signal }) }).catch(() => {
      throw new CallError(OFFLINE);
    });
    if (!response.ok) throw await errorOf(response);
    // A partial file is discarded, because it would look complete.
    const file = await response.blob().catch(() => {
      throw new CallError(BROKEN);
    });
    const link = document.createElement('a');
    link.href = URL.createObjectURL(file);
    setTimeout(() => URL.revokeObjectURL(link.href), TAKEN_AFTER_MS);
    link.download = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? name;
    if (tab === null) link.click();
    else tab.location.href = link.href;
  } catch (error) {
    tab?.close();
    throw error;
  }
}
