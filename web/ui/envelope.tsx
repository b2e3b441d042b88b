import { ENVELOPE_PARTS } from '#shared/drawings.ts';
import styles from '#web/ui/envelope.module.css';

export function Envelope() {
  return (
    <svg className={styles.envelope} viewBox="0 0 200 200" width="200" height="200" aria-hidden>
      {ENVELOPE_PARTS.map(([part, path]) => (
        <path key={part} className={styles[part]} d={path} />
      ))}
    </svg>
  );
}
