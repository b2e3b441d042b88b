import { useState } from 'react';

import styles from '#web/content/opening-envelope.module.css';

export function OpeningEnvelope() {
  const [done, setDone] = useState(false);
  if (done) return null;
  return (
    <div
      className={styles.opening}
      aria-hidden
      onAnimationEnd={(event) => {
        if (event.target === event.currentTarget) setDone(true);
      }}
    >
      <svg className={styles.envelope} viewBox="0 0 240 240" width={240} height={240}>
        <path className={styles.back} d="M20 96h200v124H20z" />
        <path className={styles.flap} d="M20 96h200l-100 74z" />
        <g className={styles.letter}>
          <path className={styles.sheet} d="M36 72h168v132H36z" />
          <path className={styles.lines} d="M56 96h84M56 114h128M56 128h128M56 142h104" />
        </g>
        <path className={styles.front} d="M20 96l100 66 100-66v124H20z" />
      </svg>
    </div>
  );
}
