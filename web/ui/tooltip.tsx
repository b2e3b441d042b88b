// Registers controls that have a tooltip. The second file shows it (tooltips.tsx) without rendering the control again, which would lose the
// focus.
import { cloneElement, useEffect, useState, type ReactElement, type Ref } from 'react';

type Tip = { readonly target: HTMLElement; readonly text: string };

let tips: readonly Tip[] = [];
const listeners = new Set<() => void>();

function setTips(next: readonly Tip[]): void {
  tips = next;
  for (const listener of listeners) listener();
}

export const tipStore = {
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  getTips: () => tips,
};

/** @param children one control that already has an accessible name */
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
