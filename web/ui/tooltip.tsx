// Tooltips (specification, section 2): they open after 700 ms of hovering, at once within 300 ms of another one, 4 px
// away, and close on blur, click, pointer down, scroll or Escape.
import * as RadixTooltip from '@radix-ui/react-tooltip';
import type { ReactElement, ReactNode } from 'react';

import styles from '#web/ui/tooltip.module.css';

const DELAY_MS = 700;
const SKIP_DELAY_MS = 300;
const OFFSET_PX = 4;

/** Lets the tooltips inside it share the skip-delay window. */
export function TooltipProvider({ children }: { readonly children: ReactNode }) {
  return (
    <RadixTooltip.Provider delayDuration={DELAY_MS} skipDelayDuration={SKIP_DELAY_MS}>
      {children}
    </RadixTooltip.Provider>
  );
}

/**
 * A short explanation of a control.
 * @param children one control that has an accessible name of its own
 */
export function Tooltip({ text, children }: { readonly text: string; readonly children: ReactElement }) {
  return (
    <RadixTooltip.Root>
      <RadixTooltip.Trigger asChild>{children}</RadixTooltip.Trigger>
      <RadixTooltip.Portal>
        <RadixTooltip.Content className={styles.tooltip} sideOffset={OFFSET_PX} collisionPadding={8}>
          <span>{text}</span>
        </RadixTooltip.Content>
      </RadixTooltip.Portal>
    </RadixTooltip.Root>
  );
}
