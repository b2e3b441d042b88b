import { Button } from '#desk/web/ui/button.tsx';
import { frame as words } from '#desk/web/words.ts';
import styles from '#desk/web/ui/theme-button.module.css';
import { toggleTheme } from '#web/theme/theme.ts';
import { MoonIcon, SunIcon } from '#web/ui/icons.tsx';

export function ThemeButton() {
  return (
    <Button
      look="icon"
      title={words.theme}
      aria-label={words.theme}
      onClick={() => toggleTheme(document.documentElement)}
    >
      <MoonIcon size={18} className={styles.moon} />
      <SunIcon size={18} className={styles.sun} />
    </Button>
  );
}
