// Runs before the first paint to avoid a flash of the wrong theme. It is a separate file, because the Content-Security-Policy
// forbids inline scripts.
import { readTheme, showTheme } from '#web/theme/theme.ts';

showTheme(document.documentElement, readTheme());
