// Files of the desk's server. They are fetched, because a link sends no header (ask.ts), and a refusal is said on the page.
import { CallError, errorOf, fetchFromDesk } from '#desk/web/ask.ts';
import { failure as words } from '#desk/web/words.ts';

/** The browser has taken a file by then. */
const TAKEN_AFTER_MS = 60_000;

async function fetchFile(url: string): Promise<{ readonly file: Blob; readonly name: string | undefined }> {
  const response = await fetchFromDesk(url, {}).catch(() => {
    throw new CallError(words.offline);
  });
  if (!response.ok) throw await errorOf(response);
  const file = await response.blob().catch(() => {
    throw new CallError(words.broken);
  });
  return { file, name: fileNameIn(response) };
}

/** The name that the server gives a file. */
export const fileNameIn = (response: Response): string | undefined =>
  /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1];

/** Hands a file to the browser, which saves it. */
export function handFile(file: Blob, name: string): void {
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

/**
 * Saves a file of the server, or shows a page of it in another tab. To be called at once when a button is pressed.
 * @param name to save it under, where the server gives none
 */
export async function openFile(url: string, name: string, how: 'save' | 'show'): Promise<void> {
  // Opened before anything is waited for: later, browsers take it for a pop-up and open none.
  const tab = how === 'show' ? window.open('about:blank') : null;
  try {
    const { file, name: given = name } = await fetchFile(url);
    if (tab === null) handFile(file, given);
    else tab.location.href = urlOf(file);
  } catch (error) {
    tab?.close();
    throw error;
  }
}
