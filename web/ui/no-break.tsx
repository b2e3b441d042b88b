// Keeps words such as "AI-Powered" on one line; browsers would break them at the hyphen.
import styles from '#web/ui/no-break.module.css';

/** A text whose hyphenated words are not broken. The text itself is not changed. */
export function NoBreak({ text }: { readonly text: string }) {
  return text.split(/(\S+-\S+)/).map((part, index) => (
    <span key={index} className={index % 2 === 1 ? styles.noBreak : undefined}>
      {part}
    </span>
  ));
}
