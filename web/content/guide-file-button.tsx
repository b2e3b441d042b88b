// The button that downloads the guide as a file, where the campaign has one.
import { API } from '#shared/api.ts';
import { content as words } from '#campaign/interface.yaml';
import { failedWith, isGuideFileThere } from '#web/api-client.ts';
import { Button } from '#web/ui/button.tsx';
import { DownloadIcon } from '#web/ui/icons.tsx';
import { useToasts } from '#web/ui/toaster.tsx';
import { SITE_PATH } from '#web/site-path.ts';

/**
 * The button.
 * @param onAccessEnded called when the session is over: the article then says so, and how to go on
 */
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
      // The browser saves it, and the article stays where it is.
      location.assign(SITE_PATH + API.guideFile);
    } catch (error) {
      if (failedWith(error, 'no-session')) onAccessEnded();
      else toasts.add({ title: label, description: words.notLoaded, variant: 'destructive' });
    }
  };
  return (
    // Few campaigns have one: its place stands here, and not in the styles of all.
    <Button style={{ marginTop: '2.5rem' }} onClick={() => void download()}>
      <DownloadIcon />
      <span>{label}</span>
    </Button>
  );
}
