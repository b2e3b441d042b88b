// Registers controls that have a tooltip. The second file shows it (tooltips.tsx) without rendering the control again, which would
// lose the focus.
import { cloneElement, useEffect, useState, type ReactElement, type Ref } from 'react';

import { createStore } from '#web/ui/store.ts';

type Tip = { readonly target: HTMLElement; readonly text: string };

export const tips = createStore<readonly Tip[]>([]);

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
    tips.set([...tips.get(), tip]);
    return () => tips.set(tips.get().filter((other) => other !== tip));
  }, [target, text]);
  return cloneElement(children, { ref: setTarget });
}
