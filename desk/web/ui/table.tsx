import { columnVisibilityFeature, tableFeatures, useTable, type ColumnDef } from '@tanstack/react-table';
import { useEffect, useMemo, useRef, useState, type ReactNode, useSyncExternalStore } from 'react';

import styles from '#desk/web/ui/table.module.css';

export type Column<Row> = {
  readonly id: string;
  readonly heading: string;
  readonly cell: (row: Row) => ReactNode;
  readonly isNumber?: boolean;
  readonly isLong?: boolean;
  readonly isAction?: boolean;
  /** Hidden on a phone, because another column has the value. */
  readonly isDecoration?: boolean;
  /** The row's heading; exactly one column has it. */
  readonly isMain?: boolean;
};

type TableProps<Row> = {
  /** For screen readers. */
  readonly caption: string;
  /** Must be stable between renders. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row, index: number) => string;
  readonly hidden?: ReadonlySet<string>;
  readonly isStale?: boolean;
};

const features = tableFeatures({ columnVisibilityFeature });

export function Table<Row extends object>({
  caption,
  columns,
  rows,
  rowKey,
  hidden,
  isStale = false,
}: TableProps<Row>) {
  const definitions = useMemo(
    () =>
      columns.map(({ id, heading, cell }): ColumnDef<typeof features, Row> => ({
        id,
        header: heading,
        cell: ({ row }) => cell(row.original),
      })),
    [columns],
  );
  const columnVisibility = useMemo(
    () => Object.fromEntries(Array.from(hidden ?? [], (id) => [id, false])),
    [hidden],
  );
  const table = useTable({
    features,
    columns: definitions,
    data: rows,
    getRowId: (row: Row, index: number) => rowKey(row, index),
    state: { columnVisibility },
  });
  const isNarrow = useIsNarrow();
  const about = (id: string) => columns.find((column) => column.id === id);
  const content = (id: string, row: Row): ReactNode => about(id)?.cell(row);
  const shown = table.getRowModel().rows;

  if (isNarrow)
    return (
      <ul className={styles.blocks} aria-label={caption} aria-busy={isStale || undefined}>
        {shown.map((row) => {
          const cells = row.getVisibleCells();
          const main = cells.find((cell) => about(cell.column.id)?.isMain) ?? cells[0];
          return (
            <li key={row.id} className={styles.block}>
              {main && <div className={styles.blockHead}>{content(main.column.id, row.original)}</div>}
              <dl className={styles.pairs}>
                {cells.map((cell) =>
                  cell === main ||
                  about(cell.column.id)?.isDecoration ||
                  about(cell.column.id)?.isAction ? null : (
                    <div key={cell.id} className={styles.pair}>
                      <dt>{about(cell.column.id)?.heading}</dt>
                      <dd>{content(cell.column.id, row.original)}</dd>
                    </div>
                  ),
                )}
              </dl>
              {cells.map(
                (cell) =>
                  about(cell.column.id)?.isAction && (
                    <div key={cell.id}>{content(cell.column.id, row.original)}</div>
                  ),
              )}
            </li>
          );
        })}
      </ul>
    );

  return (
    <Scroller label={caption}>
      <table className={styles.table} aria-busy={isStale || undefined}>
        <caption className="unseen">{caption}</caption>
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id}>
              {group.headers.map((header) => (
                <th
                  key={header.id}
                  scope="col"
                  className={about(header.column.id)?.isNumber ? styles.number : undefined}
                >
                  <span
                    className={
                      about(header.column.id)?.isAction || about(header.column.id)?.isDecoration
                        ? 'unseen'
                        : undefined
                    }
                  >
                    {about(header.column.id)?.heading}
                  </span>
                </th>
              ))}
            </tr>
          ))}
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={row.id}>
              {row.getVisibleCells().map((cell) => {
                const { isMain, isNumber, isLong } = about(cell.column.id) ?? {};
                const className = isNumber ? styles.number : isLong ? styles.long : undefined;
                return isMain ? (
                  <th key={cell.id} scope="row" className={className}>
                    {content(cell.column.id, row.original)}
                  </th>
                ) : (
                  <td key={cell.id} className={className}>
                    {content(cell.column.id, row.original)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  );
}

/** A scrolling table is focusable, so arrow keys scroll it. */
function Scroller({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [scrolls, setScrolls] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setScrolls(element.scrollWidth > element.clientWidth));
    observer.observe(element);
    for (const child of element.children) observer.observe(child);
    return () => observer.disconnect();
  }, []);
  return (
    <div
      ref={box}
      className={styles.scroller}
      {...(scrolls && { tabIndex: 0, role: 'group', 'aria-label': label })}
    >
      {children}
    </div>
  );
}

const narrow = matchMedia('(max-width: 47.99rem)');

function subscribe(listener: () => void): () => void {
  narrow.addEventListener('change', listener);
  return () => narrow.removeEventListener('change', listener);
}

const useIsNarrow = (): boolean => useSyncExternalStore(subscribe, () => narrow.matches);
