import { toasts as toastWords } from '#campaign/interface.yaml';
import * as site from '#campaign/site.yaml';
import { sharePage } from '#web/content/share-page.ts';
import { toasts } from '#web/ui/toast-store.ts';
import { SITE_PATH } from '#web/site-path.ts';

export function useShare(): () => void {
  const share = async () => {
    const outcome = await sharePage(navigator, {
      title: site.title,
      text: site.shareText,
      url: new URL(`${SITE_PATH}/`, location.href).href,
    });
    if (outcome === 'copied') toasts.add(toastWords.linkCopied);
    if (outcome === 'failed') toasts.add({ ...toastWords.shareFailed, variant: 'destructive' });
  };
  return () => void share();
}
