// Sharing the public page: the device's own share sheet where there is one, else the clipboard.

type ShareData = { readonly title: string; readonly text: string; readonly url: string };

/** What a browser offers of it; either part may be missing. */
export type Sharer = {
  readonly share?: (data: ShareData) => Promise<void>;
  readonly clipboard?: { readonly writeText: (text: string) => Promise<void> };
};

export type ShareOutcome = 'shared' | 'cancelled' | 'copied' | 'failed';

/** Shares, or copies the link. Never throws. */
export async function sharePage(sharer: Sharer, data: ShareData): Promise<ShareOutcome> {
  if (sharer.share) {
    try {
      await sharer.share(data);
      return 'shared';
    } catch (error) {
      // The visitor closed the share sheet: that is an answer, not a failure.
      if (error instanceof DOMException && error.name === 'AbortError') return 'cancelled';
    }
  }
  try {
    await sharer.clipboard?.writeText(data.url);
    return sharer.clipboard ? 'copied' : 'failed';
  } catch {
    return 'failed';
  }
}
