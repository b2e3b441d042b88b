// The fixed header of every stage but the article: product title and theme toggle.
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
  /** What the article puts in place of the product title. */
  readonly children?: ReactNode;
  /** Goes to the landing page without leaving the document, so that Back comes back to what was typed. */
  readonly onHome?: () => void;
};

/** The header. */
export function SiteHeader({ children, onHome }: SiteHeaderProps) {
  return (
    <header className={styles.header}>
      <div className={styles.headerRow}>
        {children ?? (
          <a
            className={styles.brand}
            href={`${SITE_PATH}/`}
            onClick={(event) => {
              // With a key held down, it is for a new tab or window.
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

/**
 * Both icons are there and the root's class shows one of them, so the prerendered page is right in either theme
 * before any script runs.
 */
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
