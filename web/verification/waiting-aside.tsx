import { verification as words } from '#campaign/interface.yaml';
import { firstPages } from '#campaign/landing.yaml';
import { CLOSED_ENVELOPE } from '#shared/closed-envelope.ts';
import { OpenPages } from '#web/guide/pictures.tsx';
import { DrawnPaths } from '#web/ui/drawn-paths.tsx';
import styles from '#web/verification/waiting-aside.module.css';

/** Next to the code boxes: the envelope that opens with the right code, and the guide's first pages to read while waiting. */
export function WaitingAside({ email }: { readonly email: string }) {
  const envelope = (
    <div className={styles.envelope} aria-hidden>
      <svg viewBox="0 60 200 138" width="200" height="138">
        <DrawnPaths paths={CLOSED_ENVELOPE} />
      </svg>
      <span dir="ltr" data-email={email} />
    </div>
  );
  if (!words.whileYouWait || !firstPages) return <div className={styles.aside}>{envelope}</div>;
  return (
    <aside className={styles.aside} aria-labelledby="while-you-wait">
      {envelope}
      <p id="while-you-wait">{words.whileYouWait}</p>
      <OpenPages number={1} alt={firstPages} />
    </aside>
  );
}
