import * as Popover from '@radix-ui/react-popover';

import { Button } from '#desk/web/ui/button.tsx';
import { ColumnsIcon } from '#desk/web/ui/icons.tsx';
import type { Column } from '#desk/web/ui/table.tsx';
import { leads as words } from '#desk/web/words.ts';
import styles from '#desk/web/leads/leads.module.css';

type MenuProps = {
  /** Omits the column that names the person, which cannot be hidden. */
  readonly columns: readonly Pick<Column<never>, 'id' | 'heading'>[];
  readonly hidden: ReadonlySet<string>;
  readonly onChange: (hidden: ReadonlySet<string>) => void;
};

export function ColumnMenu({ columns, hidden, onChange }: MenuProps) {
  return (
    <Popover.Root>
      <Popover.Trigger asChild>
        <Button>
          <ColumnsIcon size={16} />
          {words.columns}
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className={styles.menu}
          align="end"
          sideOffset={6}
          collisionPadding={8}
          aria-label={words.columns}
        >
          {columns.map(({ id, heading }) => (
            <label key={id} className={styles.choice}>
              <input
                type="checkbox"
                checked={!hidden.has(id)}
                onChange={({ currentTarget: { checked } }) => {
                  const next = new Set(hidden);
                  if (checked) next.delete(id);
                  else next.add(id);
                  onChange(next);
                }}
              />
              {heading}
            </label>
          ))}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
