import { number } from '#desk/web/format.ts';
import styles from '#desk/web/ui/bars.module.css';

type Bar = {
  readonly name: string;
  readonly value: number;
  readonly words: string;
  readonly isLabelled: boolean;
};

const WIDTH = 10;
const GAP = 2;
const HEIGHT = 60;

/** @param bars at least one, and not all 0 */
export function Bars({ bars, about }: { readonly bars: readonly Bar[]; readonly about: string }) {
  const most = Math.max(...bars.map(({ value }) => value));
  const width = bars.length * WIDTH - GAP;
  return (
    <figure className={styles.figure}>
      <div className={styles.plot}>
        {bars.map(
          ({ name, value, isLabelled }, index) =>
            isLabelled && (
              <span
                key={name}
                aria-hidden
                className={styles.label}
                style={{
                  left: `${((index * WIDTH + (WIDTH - GAP) / 2) / width) * 100}%`,
                  bottom: `${(value / most) * 100}%`,
                }}
              >
                {number(value)}
              </span>
            ),
        )}
        <svg
          className={styles.bars}
          role="img"
          aria-label={about}
          viewBox={`0 0 ${width} ${HEIGHT}`}
          preserveAspectRatio="none"
        >
          {bars.map(({ name, value, words }, index) => {
            const height = value === 0 ? 1 : Math.max(3, (value / most) * HEIGHT);
            return (
              <g key={name} className={styles.bar}>
                <title>{words}</title>
                <rect className={styles.ground} x={index * WIDTH} y={0} width={WIDTH - GAP} height={HEIGHT} />
                <rect
                  className={value === 0 ? styles.none : styles.some}
                  x={index * WIDTH}
                  y={HEIGHT - height}
                  width={WIDTH - GAP}
                  height={height}
                />
              </g>
            );
          })}
        </svg>
      </div>
      <figcaption className={styles.ends} aria-hidden>
        <span>{bars[0]?.name}</span>
        <span>{bars.at(-1)?.name}</span>
      </figcaption>
    </figure>
  );
}

/** @param share from 0 to 1 */
export function ShareBar({ share }: { readonly share: number }) {
  return (
    <svg className={styles.share} viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden>
      <rect className={styles.track} width={100} height={4} />
      <rect className={styles.some} width={share * 100} height={4} />
    </svg>
  );
}
