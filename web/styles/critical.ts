// Inline styles of the prerendered landing page. They are exported because the build drops style modules without a used export.
import '#web/styles/tokens.css';
import '#web/styles/base.css';

export { default as frame } from '#web/frame/frame.module.css';
export { default as landing } from '#web/landing/landing.module.css';
export { default as themeToggle } from '#web/theme/theme-toggle.module.css';
export { default as avatar } from '#web/ui/avatar.module.css';
export { default as button } from '#web/ui/button.module.css';
export { default as noBreak } from '#web/ui/no-break.module.css';
