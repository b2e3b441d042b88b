import { API } from '#shared/api.ts';
import { content as words } from '#campaign/interface.yaml';
import { failedWith, isGuideFileThere } from '#web/api-client.ts';
import { Button } from '#web/ui/button.tsx';
import { DownloadIcon } from '#web/ui/icons.tsx';
import { useToasts } from '#web/ui/toaster.tsx';
import { SITE_PATH } from '#web/site-path.ts';

export function GuideFileButton({
  label,
  onAccessEnded,
}: {
  readonly label: string;
  readonly onAccessEnded: () => void;
}) {
  const toasts = useToasts();
  const download = async () => {
    try {
      await isGuideFileThere();
      location.assign(SITE_PATH + API.guideFile);
    } catch (error) {
      if (failedWith(error, 'no-session')) onAccessEnded();
      else toasts.add({ title: label, description: words.notLoaded, variant: 'destructive' });
    }
  };
  return (
    <Button style={{ marginTop: '2.5rem' }} onClick={() => void download()}>
      <DownloadIcon />
      <span>{label}</span>
    </Button>
  );
}
