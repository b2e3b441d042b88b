// A bar with the call to action at the bottom of the screen, shown between the hero's button and the closing one.
import { useEffect, useRef, useState, type Ref, type RefObject } from 'react';

import styles from '#web/landing/guide-bar.module.css';
import { readReturnPoint } from '#web/landing/return-point.ts';
import { Button } from '#web/ui/button.tsx';

type GuideBarProps = {
  readonly text: string;
  readonly button: string;
  readonly ref: Ref<HTMLDivElement>;
  /** The bar appears once this has scrolled off the top. */
  readonly after: RefObject<HTMLElement | null>;
  /** The bar disappears once this section appears. */
  readonly before: RefObject<HTMLElement | null>;
  readonly hasMoved: () => boolean;
  readonly onCallToAction: () => void;
};

/** CSS pixels; higher than any page. */
const FAR_PX = 100_000;

export function GuideBar({ text, button, ref, after, before, hasMoved, onCallToAction }: GuideBarProps) {
  const [isBetween, setBetween] = useState(() => hasMoved() && readReturnPoint()?.action === 'bar');
  const [isFocused, setFocused] = useState(false);
  const isShown = isBetween || isFocused;

  useEffect(() => {
    const [top, bottom] = [after.current, before.current?.closest('section')];
    if (!top || !bottom) return undefined;
    const isVisible = { top: true, bottom: true };
    const watch = (element: Element, place: keyof typeof isVisible, rootMargin: string) => {
      const observer = new IntersectionObserver(
        (entries) => {
          isVisible[place] = entries.at(-1)?.isIntersecting ?? true;
          setBetween(!isVisible.top && !isVisible.bottom);
        },
        { rootMargin },
      );
      observer.observe(element);
      return observer;
    };
    const observers = [
      watch(top, 'top', `0px 0px ${FAR_PX}px`),
      watch(bottom, 'bottom', `${FAR_PX}px 0px 0px`),
    ];
    return () => {
      for (const observer of observers) observer.disconnect();
    };
  }, [after, before]);

  return (
    <div ref={ref} onFocus={() => setFocused(true)} onBlur={() => setFocused(false)}>
      {isShown && <Bar text={text} button={button} onCallToAction={onCallToAction} />}
    </div>
  );
}

function Bar({ text, button, onCallToAction }: Pick<GuideBarProps, 'text' | 'button' | 'onCallToAction'>) {
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = bar;
    if (!current) return undefined;
    const { style } = document.documentElement;
    const measure = new ResizeObserver(() => style.setProperty('--bar', `${current.offsetHeight}px`));
    measure.observe(current);
    return () => {
      measure.disconnect();
      style.removeProperty('--bar');
    };
  }, []);

  return (
    <div ref={bar} className={styles.bar}>
      <div className={styles.row}>
        <p>{text}</p>
        <Button look="primary" onClick={onCallToAction}>
          {button}
        </Button>
      </div>
    </div>
  );
}
