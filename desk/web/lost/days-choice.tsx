import { useState, type FormEvent } from 'react';

import styles from '#desk/web/lost/days-choice.module.css';
import { isDay, OFFERED_DAYS, type LostDays } from '#desk/web/lost/lost-days.ts';
import { Button } from '#desk/web/ui/button.tsx';
import { Chips } from '#desk/web/ui/chips.tsx';
import { lost as words, parts } from '#desk/web/words.ts';

const OTHERS = 'others';

export function DaysChoice({
  days,
  span,
  onChange,
}: {
  readonly days: LostDays;
  readonly span: { readonly from: string; readonly to: string };
  readonly onChange: (days: LostDays) => void;
}) {
  const [isTyping, setTyping] = useState(days.type === 'between');
  const chosen = isTyping || days.type === 'between' ? OTHERS : String(days.days);
  return (
    <div className={styles.choice}>
      <Chips
        label={words.period}
        chosen={chosen}
        options={[
          ...OFFERED_DAYS.map((count) => ({ value: String(count), label: words.last(count) })),
          { value: OTHERS, label: words.ownDays },
        ]}
        onChoose={(value) => {
          setTyping(value === OTHERS);
          if (value !== undefined && value !== OTHERS) onChange({ type: 'last', days: Number(value) });
        }}
      />
      {chosen === OTHERS && <OtherDays key={`${span.from} ${span.to}`} span={span} onChange={onChange} />}
    </div>
  );
}

function OtherDays({
  span,
  onChange,
}: {
  readonly span: { readonly from: string; readonly to: string };
  readonly onChange: (days: LostDays) => void;
}) {
  const [{ from, to }, setTyped] = useState(span);
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (isDay(from) && isDay(to))
      onChange(from <= to ? { type: 'between', from, to } : { type: 'between', from: to, to: from });
  };
  return (
    <form className={styles.days} onSubmit={send}>
      <label>
        {words.from}
        <input
          type="date"
          value={from}
          required
          onChange={({ target }) => setTyped({ from: target.value, to })}
        />
      </label>
      <label>
        {words.to}
        <input
          type="date"
          value={to}
          required
          onChange={({ target }) => setTyped({ from, to: target.value })}
        />
      </label>
      <Button type="submit">{words.show}</Button>
      <span className={styles.zone}>{parts.zone}</span>
    </form>
  );
}
