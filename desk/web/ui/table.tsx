import { useEffect, useRef, useState, useSyncExternalStore, type MouseEvent, type ReactNode } from 'react';

import styles from '#desk/web/ui/table.module.css';

export type Column<Row> = {
  readonly heading: string;
  readonly cell: (row: Row) => ReactNode;
  readonly isNumber?: boolean;
  readonly isLong?: boolean;
  readonly isAction?: boolean;
  /** Hidden on a phone, because another column has the value. */
  readonly isDecoration?: boolean;
  /** Returns true if a row has a value. The column is omitted if no row has one. */
  readonly isFilled?: (row: Row) => boolean;
  /** The row's heading; exactly one column has it. */
  readonly isMain?: boolean;
};

type TableProps<Row> = {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row, index: number) => string;
  /** Replaces a table without rows. */
  readonly empty?: string;
  /** Replaces the names and values of a row on a phone. */
  readonly renderBlock?: (row: Row) => ReactNode;
  readonly isStale?: boolean;
};

export function Table<Row>({
  caption,
  columns,
  rows,
  rowKey,
  empty,
  renderBlock,
  isStale = false,
}: TableProps<Row>) {
  const isNarrow = useIsNarrow();
  if (rows.length === 0 && empty !== undefined) return <p className="quiet">{empty}</p>;
  const shown = columns.filter(({ isFilled }) => isFilled === undefined || rows.some(isFilled));
  const props = { caption, columns: shown, rows, rowKey, isStale };
  return isNarrow ? <Blocks {...props} renderBlock={renderBlock} /> : <Grid {...props} />;
}

type RowsProps<Row> = Omit<TableProps<Row>, 'empty' | 'renderBlock'>;

/** Shows rows on a phone. */
function Blocks<Row>({
  caption,
  columns,
  rows,
  rowKey,
  renderBlock,
  isStale,
}: RowsProps<Row> & { readonly renderBlock: TableProps<Row>['renderBlock'] }) {
  const main = columns.find(({ isMain }) => isMain) ?? columns[0];
  const pairs = columns.filter((one) => one !== main && !one.isDecoration && !one.isAction);
  const actions = columns.filter(({ isAction }) => isAction);
  return (
    <ul className="panel ruled" aria-label={caption} aria-busy={isStale || undefined}>
      {rows.map((row, index) => (
        <li key={rowKey(row, index)} className={styles.block}>
          {renderBlock?.(row) ?? (
            <>
              {main && <div className={styles.blockHead}>{main.cell(row)}</div>}
              <dl className="pairs">
                {pairs.map(({ heading, cell }, at) => (
                  <div key={at}>
                    <dt>{heading}</dt>
                    <dd>{cell(row)}</dd>
                  </div>
                ))}
              </dl>
            </>
          )}
          {actions.map(({ cell }, at) => (
            <div key={at}>{cell(row)}</div>
          ))}
        </li>
      ))}
    </ul>
  );
}

function Grid<Row>({ caption, columns, rows, rowKey, isStale }: RowsProps<Row>) {
  return (
    <Scroller label={caption}>
      <table className={styles.table} aria-busy={isStale || undefined}>
        <caption className="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ heading, isNumber, isAction, isDecoration }, at) => (
              <th key={at} scope="col" className={isNumber ? styles.number : undefined}>
                <span className={isAction || isDecoration ? 'unseen' : undefined}>{heading}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // Keyboard users follow the link in the row's heading.
            <tr key={rowKey(row, index)} onClick={openRow}>
              {columns.map(({ cell, isMain, isNumber, isLong }, at) => {
                const Cell = isMain ? 'th' : 'td';
                const className = isNumber ? styles.number : isLong ? styles.long : undefined;
                return (
                  <Cell key={at} scope={isMain ? 'row' : undefined} className={className}>
                    {cell(row)}
                  </Cell>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  );
}

function openRow({ target, currentTarget }: MouseEvent<HTMLTableRowElement>): void {
  const isControl = target instanceof Element && target.closest('a, button, input, label, summary') !== null;
  if (!isControl && getSelection()?.isCollapsed !== false)
    currentTarget.querySelector<HTMLElement>('th a')?.click();
}

/** Makes a scrolling table focusable, so arrow keys can scroll it. */
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
      className={`panel ${styles.scroller}`}
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
