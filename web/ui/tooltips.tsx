// Specification, section 2: tooltips open after 700 ms of hovering, at once within 300 ms of another one, 4 px away.
import * as RadixTooltip from '@radix-ui/react-tooltip';
import { useEffect, useEffectEvent, useLayoutEffect, useSyncExternalStore, type ComponentProps } from 'react';

import styles from '#web/ui/tooltip.module.css';
import { tips } from '#web/ui/tooltip.tsx';

const DELAY_MS = 700;
const SKIP_DELAY_MS = 300;
const OFFSET_PX = 4;

export function Tooltips() {
  const shown = useSyncExternalStore(tips.subscribe, tips.get);
  return (
    <RadixTooltip.Provider delayDuration={DELAY_MS} skipDelayDuration={SKIP_DELAY_MS}>
      {shown.map(({ target, text }) => (
        <RadixTooltip.Root key={text}>
          <RadixTooltip.Trigger asChild>
            <Control target={target} />
          </RadixTooltip.Trigger>
          <RadixTooltip.Portal>
            <RadixTooltip.Content className={styles.tooltip} sideOffset={OFFSET_PX} collisionPadding={8}>
              <span>{text}</span>
            </RadixTooltip.Content>
          </RadixTooltip.Portal>
        </RadixTooltip.Root>
      ))}
    </RadixTooltip.Provider>
  );
}

const HANDLERS = {
  pointermove: 'onPointerMove',
  pointerleave: 'onPointerLeave',
  pointerdown: 'onPointerDown',
  focus: 'onFocus',
  blur: 'onBlur',
  click: 'onClick',
} as const;
const EVENTS = Object.keys(HANDLERS) as (keyof typeof HANDLERS)[];

type ControlProps = Pick<
  ComponentProps<'button'>,
  'ref' | 'aria-describedby' | (typeof HANDLERS)['click']
> & {
  readonly [Handler in (typeof HANDLERS)[keyof typeof HANDLERS]]?: (event: Event) => void;
};

function Control({ target, ref, ...props }: ControlProps & { readonly target: HTMLElement }) {
  const setRef = useEffectEvent((element: HTMLElement | null) => {
    if (typeof ref === 'function') ref(element as HTMLButtonElement | null);
  });
  useLayoutEffect(() => {
    setRef(target);
    return () => setRef(null);
  }, [target]);

  const onEvent = useEffectEvent((event: Event) =>
    props[HANDLERS[event.type as keyof typeof HANDLERS]]?.(event),
  );
  useEffect(() => {
    for (const type of EVENTS) target.addEventListener(type, onEvent);
    // Hover or focus may have begun before this file loaded.
    if (target.matches(':hover') && matchMedia('(hover:hover)').matches)
      onEvent(new PointerEvent('pointermove'));
    if (target.matches(':focus-visible')) onEvent(new FocusEvent('focus'));
    return () => {
      for (const type of EVENTS) target.removeEventListener(type, onEvent);
    };
  }, [target]);

  const describedBy = props['aria-describedby'];
  useEffect(() => {
    if (describedBy === undefined) return undefined;
    target.setAttribute('aria-describedby', describedBy);
    return () => target.removeAttribute('aria-describedby');
  }, [target, describedBy]);
  return null;
}
