// Runs before the first paint, from a file of its own because the policy forbids inline scripts: no flash of the other theme.
import { readTheme, showTheme } from '#web/theme/theme.ts';

showTheme(
  document.documentElement,
  readTheme(() => localStorage),
);
