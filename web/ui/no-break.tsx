// Keeps together what a line must not end within.
import { Fragment } from 'react';

import styles from '#web/ui/no-break.module.css';

/** A text whose hyphenated words, such as "AI-Powered", are not broken. The text itself is not changed. */
export function NoBreak({ text }: { readonly text: string }) {
  return text.split(/(\S+-\S+)/).map((part, index) => (
    <span key={index} className={index % 2 === 1 ? styles.noBreak : undefined}>
      {part}
    </span>
  ));
}

/** A text of parts with a dot between them: a line ends within a part only where the part is longer than the line. */
export function DottedParts({ text }: { readonly text: string }) {
  return text.split(/(?<=•) /).map((part) => (
    <Fragment key={part}>
      <span className={styles.part}>{part}</span>{' '}
    </Fragment>
  ));
}
