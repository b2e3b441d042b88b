type ShareData = { readonly title: string; readonly text: string; readonly url: string };

export type Sharer = {
  readonly share?: (data: ShareData) => Promise<void>;
  readonly clipboard?: { readonly writeText: (text: string) => Promise<void> };
};

export type ShareOutcome = 'shared' | 'cancelled' | 'copied' | 'failed';

/** Never throws. */
export async function sharePage(sharer: Sharer, data: ShareData): Promise<ShareOutcome> {
  if (sharer.share) {
    try {
      await sharer.share(data);
      return 'shared';
    } catch (error) {
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
