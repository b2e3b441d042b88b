import type { ReactNode } from 'react';

import { header } from '#campaign/interface.yaml';
import * as site from '#campaign/site.yaml';
import styles from '#web/frame/frame.module.css';
import { Mark } from '#web/frame/mark.tsx';
import { SITE_PATH } from '#web/site-path.ts';
import toggleStyles from '#web/theme/theme-toggle.module.css';
import { toggleTheme } from '#web/theme/theme.ts';
import { Button } from '#web/ui/button.tsx';
import { MoonIcon, SunIcon } from '#web/ui/icons.tsx';
import { Tooltip } from '#web/ui/tooltip.tsx';

type SiteHeaderProps = {
  readonly children?: ReactNode;
  readonly onHome?: () => void;
};

export function SiteHeader({ children, onHome }: SiteHeaderProps) {
  return (
    <header className={styles.header}>
      <div className={styles.headerRow}>
        {children ?? (
          <a
            className={styles.brand}
            href={`${SITE_PATH}/`}
            onClick={(event) => {
              if (!onHome || event.metaKey || event.ctrlKey || event.shiftKey) return;
              event.preventDefault();
              onHome();
            }}
          >
            {site.logo ? (
              <img src={site.logo.src} alt="" width={site.logo.width} height={site.logo.height} />
            ) : (
              <Mark />
            )}
            <span>{site.title}</span>
          </a>
        )}
        <ThemeToggle />
      </div>
    </header>
  );
}

/** Contains both icons; the root's class shows one, so the prerendered page is right before any script runs. */
function ThemeToggle() {
  return (
    <Tooltip text={header.toggleThemeTip}>
      <Button
        look="icon"
        aria-label={header.toggleTheme}
        onClick={() => toggleTheme(document.documentElement)}
      >
        <MoonIcon className={toggleStyles.moon} />
        <SunIcon className={toggleStyles.sun} />
      </Button>
    </Tooltip>
  );
}
