import { useId, useRef, type Ref } from 'react';

import { verification as words } from '#campaign/interface.yaml';
import { CODE_LENGTH } from '#shared/limits.ts';
import { fill } from '#shared/words.ts';
import { NoBreak } from '#web/ui/no-break.tsx';
import { eventOfKey } from '#web/verification/code-entry.ts';
import { useCodeEntry, type CodeEntryProps } from '#web/verification/use-code-entry.ts';
import styles from '#web/verification/verification-stage.module.css';

type CodeBoxesProps = Pick<CodeEntryProps, 'refusals' | 'disabled' | 'onType' | 'onEdit' | 'onComplete'> & {
  readonly ref: Ref<HTMLDivElement>;
  readonly headingId: string;
  readonly introId: string;
  readonly failure: string | null;
};

const BOXES_ID = 'verification-boxes';

export function CodeBoxes({
  ref,
  headingId,
  introId,
  refusals,
  failure,
  disabled,
  onType,
  onEdit,
  onComplete,
}: CodeBoxesProps) {
  const boxes = useRef<(HTMLInputElement | null)[]>([]);
  const failureId = useId();
  const complaint = disabled ? null : failure;
  const { entry, apply, noteFocus } = useCodeEntry({
    boxes,
    refusals,
    disabled,
    onType,
    onEdit,
    onComplete,
  });

  return (
    <>
      <div
        ref={ref}
        className={styles.boxes}
        role="group"
        id={BOXES_ID}
        aria-label={fill(words.code, { digits: CODE_LENGTH })}
        aria-labelledby={`${headingId} ${BOXES_ID}`}
        aria-describedby={introId}
      >
        {entry.digits.map((digit, box) => (
          <input
            key={box}
            ref={(element) => {
              boxes.current[box] = element;
            }}
            className={styles.box}
            // No maxlength, which would truncate autofill of all six digits into one box.
            type="text"
            inputMode="numeric"
            enterKeyHint={box === CODE_LENGTH - 1 ? 'done' : 'next'}
            pattern="[0-9]*"
            autoComplete="one-time-code"
            aria-label={fill(words.digit, { number: box + 1, digits: CODE_LENGTH })}
            aria-invalid={complaint !== null}
            aria-describedby={complaint === null ? undefined : failureId}
            value={digit}
            disabled={disabled}
            onChange={(event) => apply({ type: 'input', box, value: event.currentTarget.value })}
            onKeyDown={(event) => {
              if (event.ctrlKey || event.metaKey || event.altKey) return;
              const entryEvent = eventOfKey(entry, box, event.key);
              if (entryEvent === null) return;
              event.preventDefault();
              apply(entryEvent);
            }}
            onPaste={(event) => {
              event.preventDefault();
              apply({ type: 'paste', box, text: event.clipboardData.getData('text') });
            }}
            onFocus={(event) => {
              event.currentTarget.select();
              noteFocus(box);
            }}
          />
        ))}
      </div>
      {complaint && (
        <p className={styles.failure} id={failureId}>
          <NoBreak text={complaint} />
        </p>
      )}
    </>
  );
}
