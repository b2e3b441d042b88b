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
        <path className={styles.openFlap} d="M20 96h200l-100 74z" />
      </svg>
      <div className={styles.sheet} />
      <svg className={styles.lines} viewBox="0 0 240 240" width={240} height={240}>
        <path d="M56 84h84M56 102h128M56 116h128M56 130h128M56 144h104" />
      </svg>
      <svg className={styles.envelope} viewBox="0 0 240 240" width={240} height={240}>
        <path className={styles.front} d="M20 96l100 66 100-66v124H20z" />
        <path className={styles.closedFlap} d="M20 96h200l-100 74z" />
        <circle className={styles.seal} cx={120} cy={160} r={11} />
      </svg>
    </div>
  );
}
