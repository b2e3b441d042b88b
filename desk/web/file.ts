// Fetches files with scripts, because links cannot send headers (api-client.ts) or show failures on the page.
import { ApiError, errorOf, fetchWithSession, BROKEN, OFFLINE } from '#desk/web/api-client.ts';

/** By then, the browser has read the file. */
const REVOKE_AFTER_MS = 60_000;

/** Must run directly in a click handler, because browsers block later pop-ups. */
export async function openFile(
  url: string,
  name: string,
  mode: 'save' | 'show',
  signal?: AbortSignal,
): Promise<void> {
  const tab = mode === 'show' ? window.open('about:blank') : null;
  try {
    const response = await fetchWithSession(url, { ...(signal && { signal }) }).catch(() => {
      throw new ApiError(OFFLINE);
    });
    if (!response.ok) throw await errorOf(response);
    // A partial file is discarded, because it would look complete.
    const file = await response.blob().catch(() => {
      throw new ApiError(BROKEN);
    });
    const link = document.createElement('a');
    link.href = URL.createObjectURL(file);
    setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_AFTER_MS);
    link.download = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? name;
    if (tab === null) link.click();
    else tab.location.href = link.href;
  } catch (error) {
    tab?.close();
    throw error;
  }
}
