// Runs before the first paint to avoid a flash of the wrong theme. A separate file, because the policy forbids inline scripts.
import { readTheme, showTheme } from '#web/theme/theme.ts';

showTheme(
  document.documentElement,
  readTheme(() => localStorage),
);
