// Which controls have a tooltip. What shows them comes with the application's second file (tooltips.tsx), and leaves the
// control itself as it is: a control that was rendered anew would lose the focus.
import { cloneElement, useEffect, useState, type ReactElement, type Ref } from 'react';

type Tip = { readonly target: HTMLElement; readonly text: string };

let tips: readonly Tip[] = [];
const listeners = new Set<() => void>();

function setTips(next: readonly Tip[]): void {
  tips = next;
  for (const listener of listeners) listener();
}

/** The controls on the screen that have one, for useSyncExternalStore. */
export const tipStore = {
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  getTips: () => tips,
};

/**
 * A short explanation of a control.
 * @param children one control that already has an accessible name
 */
export function Tooltip({
  text,
  children,
}: {
  readonly text: string;
  readonly children: ReactElement<{ readonly ref?: Ref<HTMLElement> }>;
}) {
  const [target, setTarget] = useState<HTMLElement | null>(null);
  useEffect(() => {
    if (target === null) return undefined;
    const tip = { target, text };
    setTips([...tips, tip]);
    return () => setTips(tips.filter((other) => other !== tip));
  }, [target, text]);
  return cloneElement(children, { ref: setTarget });
}
