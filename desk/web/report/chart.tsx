// A drawing of the server's, in the colours of the desk. Screen readers skip it: the sentence above it and the table below say the same.
import type { ReportShown } from '#desk/calls/figures.ts';
import styles from '#desk/web/report/chart.module.css';
import { report as words } from '#desk/web/words.ts';

type ChartProps = Pick<ReportShown['sections'][number], 'wideSvg' | 'bars' | 'behindEachBar'> & {
  readonly svg: string;
};

/** @param props svg, wideSvg: elements of our own server, whose texts are escaped */
export function Chart({ svg, wideSvg, bars, behindEachBar }: ChartProps) {
  return (
    <div className={styles.chart} aria-hidden>
      {bars !== null && (
        <ul className={styles.legend}>
          <li>{bars.value}</li>
          <li data-rest>{bars.rest}</li>
        </ul>
      )}
      {behindEachBar !== null && <p className={styles.behind}>{words.behindEachBar(behindEachBar)}</p>}
      <div className={wideSvg === null ? styles.narrow : styles.narrowOnly}>
        <Drawing svg={svg} />
      </div>
      {wideSvg !== null && (
        <div className={styles.wideOnly}>
          <Drawing svg={wideSvg} />
        </div>
      )}
    </div>
  );
}

const Drawing = ({ svg }: { readonly svg: string }) => <div dangerouslySetInnerHTML={{ __html: svg }} />;
