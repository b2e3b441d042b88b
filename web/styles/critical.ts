// The styles of the prerendered landing page: they stand inline in it. Exported, because the build leaves out a module of
// styles that no file imports from. A test keeps this list, those of the other critical-*.ts, app-styles.ts and
// later-stages-styles.ts complete.
import '#web/styles/tokens.css';
import '#web/styles/base.css';

export { default as frame } from '#web/frame/frame.module.css';
export { default as landing } from '#web/landing/landing.module.css';
export { default as themeToggle } from '#web/theme/theme-toggle.module.css';
export { default as avatar } from '#web/ui/avatar.module.css';
export { default as button } from '#web/ui/button.module.css';
export { default as noBreak } from '#web/ui/no-break.module.css';
