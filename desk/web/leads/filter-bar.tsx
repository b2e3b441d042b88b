import { useEffect, useRef, useState, type ComponentProps } from 'react';

import { choices, STATES, type Filter } from '#desk/endpoints/people.ts';
import { countFilters, withFilter, type FilterName } from '#desk/web/leads/filter.ts';
import { useDeskUser, useDeskQuery, useTimeZone } from '#desk/web/queries.ts';
import { DAYS_NAMES, nameOfSpan, spanNamed } from '#desk/web/named-days.ts';
import { Button } from '#desk/web/ui/button.tsx';
import { Chips } from '#desk/web/ui/chips.tsx';
import { Field, optionsOf, SelectField } from '#desk/web/ui/fields.tsx';
import { FilterIcon } from '#desk/web/ui/icons.tsx';
import styles from '#desk/web/leads/leads.module.css';
import { PEOPLE_IN_STATE } from '#desk/web/format.ts';
import { NAMED_DAYS } from '#shared/days.ts';

const DEBOUNCE_MS = 300;

type FilterBarProps = {
  readonly filter: Filter;
  /**
   * @param change updates the current filter, which may have changed since rendering
   * @param isTyped true to replace the history entry instead of adding one
   */
  readonly onChange: (change: (filter: Filter) => Filter, isTyped: boolean) => void;
};

/** Days without a name, which match no chip. */
const OTHER_DAYS = 'other';

const MORE_FILTERS = [
  'campaign',
  'flag',
  'news',
  'domain',
  'answer',
  'from',
  'to',
] as const satisfies readonly FilterName[];

export function FilterBar({ filter, onChange }: FilterBarProps) {
  const { fields, hasNews } = useDeskUser();
  const { data } = useDeskQuery(choices, {});
  const [isOpen, setOpen] = useState(() => MORE_FILTERS.some((name) => filter[name] !== undefined));
  const typed = (name: FilterName, tidy = (value: string) => value) => ({
    value: filter[name] ?? '',
    onTyped: (value: string) => onChange((current) => withFilter(current, name, tidy(value)), true),
  });
  const select = (name: FilterName) => ({
    value: filter[name] ?? '',
    onChange: ({ currentTarget: { value } }: { readonly currentTarget: { readonly value: string } }) =>
      onChange((current) => withFilter(current, name, value), false),
  });
  const timeZone = useTimeZone();
  const [now, setNow] = useState(() => Date.now());
  const daysChosen =
    filter.from === undefined && filter.to === undefined
      ? undefined
      : (nameOfSpan(filter, now, timeZone) ?? OTHER_DAYS);
  const activeCount = MORE_FILTERS.filter((name) => filter[name] !== undefined).length;

  return (
    <search className={`row ${styles.filters}`}>
      <TypedField
        className={styles.search}
        label="Search"
        type="search"
        maxLength={200}
        placeholder="Address, name or company"
        aria-keyshortcuts="/"
        {...typed('search')}
      />
      <SelectField
        label="State"
        options={STATES.map((value) => ({ value, name: PEOPLE_IN_STATE[value] }))}
        {...select('state')}
      />
      <SelectField
        label="Source"
        options={optionsOf('Any source', data?.sources, filter.source)}
        {...select('source')}
      />
      <Button className={styles.more} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <FilterIcon size={16} />
        {isOpen || activeCount === 0 ? 'More filters' : `More filters (${activeCount})`}
      </Button>
      {isOpen && (
        <div className={styles.further}>
          <div className={`stack ${styles.days}`}>
            <Chips
              label="Days"
              all="All"
              chosen={daysChosen}
              options={NAMED_DAYS.map((name) => ({ value: name, name: DAYS_NAMES[name] }))}
              onChoose={(name) => {
                // The page may have been opened on another day.
                const chosenAt = Date.now();
                setNow(chosenAt);
                onChange((current) => {
                  const { from: _from, to: _to, ...rest } = current;
                  return { ...rest, ...(name && spanNamed(name, chosenAt, timeZone)) };
                }, false);
              }}
            />
            <p>
              <small>First and last day are included. Days in {timeZone}.</small>
            </p>
          </div>
          <TypedField label="From" type="date" max={filter.to} {...typed('from')} />
          <TypedField label="To" type="date" min={filter.from} {...typed('to')} />
          <TypedField
            label="Domain of the address"
            placeholder="example.com"
            {...typed('domain', (value) => value.replace(/^.*@/, '').toLowerCase())}
          />
          <SelectField
            label="Campaign"
            options={optionsOf('Any campaign', data?.campaigns, filter.campaign)}
            {...select('campaign')}
          />
          <SelectField
            label="Flag"
            options={optionsOf('Any flag', data?.flags, filter.flag)}
            {...select('flag')}
          />
          {(hasNews || filter.news !== undefined) && (
            <SelectField
              label="News"
              options={[
                { value: '', name: 'Agreed or not' },
                { value: 'yes', name: 'Agreed to get news' },
              ]}
              {...select('news')}
            />
          )}
          {fields.length > 0 && (
            <SelectField
              label="Answer to"
              options={[
                { value: '', name: 'Any question' },
                ...fields.map(({ id, label }) => ({ value: id, name: label })),
              ]}
              {...select('field')}
            />
          )}
          {filter.field !== undefined && <TypedField label="Answer has" {...typed('answer')} />}
        </div>
      )}
      {countFilters(filter) > 0 && (
        <Button
          look="text"
          className={styles.clear}
          onClick={() => onChange(({ state }) => ({ state }), false)}
        >
          Clear the filters
        </Button>
      )}
    </search>
  );
}

/** Typing a year produces earlier valid years first, such as 2, 20 and 202. */
const EARLIEST_DAY = '1970-01-01';

type TypedProps = Omit<ComponentProps<typeof Field>, 'value' | 'onChange'> & {
  readonly value: string;
  readonly onTyped: (value: string) => void;
};

function TypedField({ value, onTyped, ...props }: TypedProps) {
  const isIncomplete = (day: string) => props.type === 'date' && day !== '' && day < EARLIEST_DAY;
  const [text, setText] = useState(value);
  const [known, setKnown] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // Cancels pending text, which would undo Back or Forward.
  useEffect(() => {
    const drop = () => {
      clearTimeout(timer.current);
      setText(value);
    };
    addEventListener('popstate', drop);
    return () => {
      clearTimeout(timer.current);
      removeEventListener('popstate', drop);
    };
  }, [value]);
  if (value !== known) {
    setKnown(value);
    setText(value);
  }
  const send = (typed: string) => {
    clearTimeout(timer.current);
    const next = typed.trim();
    if (next === known || isIncomplete(next)) return;
    setKnown(next);
    onTyped(next);
  };
  return (
    <Field
      {...props}
      value={text}
      onChange={(event) => {
        const typed = event.currentTarget.value;
        setText(typed);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => send(typed), DEBOUNCE_MS);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') send(event.currentTarget.value);
      }}
      onBlur={(event) => {
        const left = event.currentTarget.value;
        if (isIncomplete(left)) setText(known);
        else send(left);
      }}
    />
  );
}
