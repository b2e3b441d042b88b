// The light/dark switch in the header.
import { header } from '#campaign/interface.yaml';
import { toggleTheme } from '#web/theme/theme.ts';
import styles from '#web/theme/theme-toggle.module.css';
import { Button } from '#web/ui/button.tsx';
import { MoonIcon, SunIcon } from '#web/ui/icons.tsx';
import { Tooltip } from '#web/ui/tooltip.tsx';

/**
 * Both icons are there and the root's class shows one of them, so the prerendered page is right in either theme
 * before any script runs.
 */
export function ThemeToggle() {
  return (
    <Tooltip text={header.toggleThemeTip}>
      <Button
        look="icon"
        aria-label={header.toggleTheme}
        onClick={() => toggleTheme(document.documentElement)}
      >
        <MoonIcon className={styles.moon} />
        <SunIcon className={styles.sun} />
      </Button>
    </Tooltip>
  );
}
