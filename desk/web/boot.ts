// Runs before the first paint, from a separate file because the policy forbids inline scripts: no flash of the other theme.
import { readTheme, showTheme } from '#web/theme/theme.ts';

showTheme(
  document.documentElement,
  readTheme(() => localStorage),
);
