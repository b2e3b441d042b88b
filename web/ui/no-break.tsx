import { Fragment } from 'react';

import styles from '#web/ui/no-break.module.css';

/** Keeps hyphenated words such as "AI-Powered" on one line, unless they are wider than it. */
export function NoBreak({ text }: { readonly text: string }) {
  return text.split(/(\S+-\S+)/).map((part, index) => (
    <span key={index} className={index % 2 === 1 ? styles.part : undefined}>
      {part}
    </span>
  ));
}

export function DottedParts({ text }: { readonly text: string }) {
  return text.split(/(?<=•) /).map((part) => (
    <Fragment key={part}>
      <span className={styles.part}>{part}</span>{' '}
    </Fragment>
  ));
}
