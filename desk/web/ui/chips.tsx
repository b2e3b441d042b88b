import { useId } from 'react';

import styles from '#desk/web/ui/chips.module.css';
import type { Option } from '#desk/web/ui/fields.tsx';
import { number } from '#desk/web/format.ts';

type ChipOption<Value> = Option & { readonly value: Value; readonly count?: number };

export function Chips<Value extends string>({
  label,
  all,
  options,
  chosen,
  onChoose,
}: {
  readonly label: string;
  readonly all?: string;
  readonly options: readonly ChipOption<Value>[];
  readonly chosen: string | undefined;
  readonly onChoose: (value: Value | undefined) => void;
}) {
  const id = useId();
  const chip = (value: Value | undefined, name: string, count?: number) => (
    <button
      key={value}
      type="button"
      className={styles.chip}
      aria-pressed={chosen === value}
      onClick={() => onChoose(value)}
    >
      {name}
      {count !== undefined && <span className={`quiet ${styles.count}`}> {number(count)}</span>}
    </button>
  );
  return (
    <div className={styles.group} role="group" aria-labelledby={id}>
      <span className="quiet small" id={id}>
        {label}
      </span>
      <div className={`row ${styles.chips}`}>
        {all !== undefined && chip(undefined, all)}
        {options.map(({ value, name = value, count }) => chip(value, name, count))}
      </div>
    </div>
  );
}
