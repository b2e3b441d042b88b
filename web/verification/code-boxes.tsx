// The six boxes. What each key does is in code-entry.ts; this is its picture.
import {
  useEffect,
  useEffectEvent,
  useId,
  useReducer,
  useRef,
  useState,
  type KeyboardEvent,
  type Ref,
} from 'react';

import { verification as words } from '#campaign/interface.yaml';
import { CODE_LENGTH } from '#shared/lengths-and-resend-seconds.ts';
import { fill } from '#shared/words.ts';
import type { ToastContent } from '#web/ui/toast-state.ts';
import {
  codeEntryReducer,
  completeCode,
  EMPTY_CODE_ENTRY,
  isDigit,
  type CodeEntryEvent,
} from '#web/verification/code-entry.ts';
import styles from '#web/verification/verification-stage.module.css';

type CodeBoxesProps = {
  /** The group of boxes. */
  readonly ref: Ref<HTMLDivElement>;
  /** The elements that a screen reader tells when the caret comes into the boxes: whose heading, and what was sent where. */
  readonly headingId: string;
  readonly introId: string;
  /** How often a code was refused. When it grows, the boxes are emptied and the first one takes the focus. */
  readonly refusals: number;
  /** What was said when the last code failed; it stands under the boxes until something is typed. */
  readonly failure: ToastContent | null;
  readonly disabled: boolean;
  /** The digits are no longer those that were completed. */
  readonly onEdit: () => void;
  /** Called once each time all six boxes become filled. */
  readonly onComplete: (code: string) => void;
};

const MOVES: Readonly<Record<string, Extract<CodeEntryEvent, { type: 'move' }>['to']>> = {
  ArrowLeft: 'previous',
  ArrowRight: 'next',
  Home: 'first',
  End: 'last',
};

const BOXES_ID = 'verification-boxes';

/** The one-time code, one digit a box. */
export function CodeBoxes({
  ref,
  headingId,
  introId,
  refusals,
  failure,
  disabled,
  onEdit,
  onComplete,
}: CodeBoxesProps) {
  const [entry, dispatch] = useReducer(codeEntryReducer, EMPTY_CODE_ENTRY);
  const boxes = useRef<(HTMLInputElement | null)[]>([]);
  const submitted = useRef<string | null>(null);
  const failureId = useId();
  // The failure that was answered by typing.
  const [answered, setAnswered] = useState<ToastContent | null>(null);
  const complaint = disabled || failure === answered ? null : failure;

  const focusBox = (box: number) => {
    boxes.current[box]?.focus();
    boxes.current[box]?.select();
  };

  const apply = (event: CodeEntryEvent) => {
    const next = codeEntryReducer(entry, event);
    dispatch(event);
    if (next.digits !== entry.digits) setAnswered(failure);
    focusBox(next.focus);
    const code = completeCode(next);
    if (code !== completeCode(entry)) onEdit();
    // Filling boxes that were full already (a second autofill of the same code) is not another attempt.
    if (code !== null && code !== submitted.current) {
      submitted.current = code;
      onComplete(code);
    }
    if (code === null) submitted.current = null;
  };

  useEffect(() => {
    if (refusals === 0) return;
    submitted.current = null;
    dispatch({ type: 'reset' });
  }, [refusals]);

  // The boxes take the focus as soon as they are usable again, unless something else has it: they lost it when they were
  // disabled.
  const wasDisabled = useRef(false);
  useEffect(() => {
    const focused = document.activeElement;
    // One that was disabled may seem to have the focus for a moment more.
    const isFree = focused === document.body || boxes.current.some((box) => box === focused);
    if (wasDisabled.current && !disabled && isFree) boxes.current[0]?.focus();
    wasDisabled.current = disabled;
  }, [disabled]);

  // The stage begins with the caret in the first box, and so do boxes that take the place of others.
  useEffect(() => {
    boxes.current[0]?.focus({ preventScroll: true });
  }, []);

  // Whoever types or pastes elsewhere means the boxes.
  const onStrayInput = useEffectEvent((event: globalThis.KeyboardEvent | ClipboardEvent) => {
    if (disabled || event.target instanceof HTMLInputElement) return;
    // A full row that could not be checked is typed over from its beginning.
    const box = completeCode(entry) === null ? entry.focus : 0;
    if (event instanceof ClipboardEvent) {
      apply({ type: 'paste', box, text: event.clipboardData?.getData('text') ?? '' });
    } else if (isDigit(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      apply({ type: 'input', box, value: event.key });
    }
  });
  useEffect(() => {
    document.addEventListener('keydown', onStrayInput);
    document.addEventListener('paste', onStrayInput);
    return () => {
      document.removeEventListener('keydown', onStrayInput);
      document.removeEventListener('paste', onStrayInput);
    };
  }, []);

  const onKeyDown = (box: number, event: KeyboardEvent<HTMLInputElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = MOVES[event.key];
    if (to !== undefined) {
      event.preventDefault();
      apply({ type: 'move', box, to });
    } else if (event.key === 'Backspace') {
      event.preventDefault();
      apply({ type: 'backspace', box });
    } else if (event.key.length === 1 && event.key === entry.digits[box]) {
      // The same digit over itself changes no value, so no input event follows; it still moves on.
      event.preventDefault();
      apply({ type: 'input', box, value: event.key });
    }
  };

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
            // No maxlength: it would cut off an autofill that puts all six digits into one box.
            type="text"
            inputMode="numeric"
            enterKeyHint={box === CODE_LENGTH - 1 ? 'done' : 'next'}
            pattern="[0-9]*"
            autoComplete="one-time-code"
            aria-label={fill(words.digit, { number: box + 1, digits: CODE_LENGTH })}
            // Until something new is typed, the boxes show that the code was refused.
            aria-invalid={complaint !== null && refusals > 0 && entry.digits.every((one) => one === '')}
            aria-describedby={complaint === null ? undefined : failureId}
            value={digit}
            disabled={disabled}
            onChange={(event) => apply({ type: 'input', box, value: event.currentTarget.value })}
            onKeyDown={(event) => onKeyDown(box, event)}
            onPaste={(event) => {
              event.preventDefault();
              apply({ type: 'paste', box, text: event.clipboardData.getData('text') });
            }}
            onFocus={(event) => {
              event.currentTarget.select();
              dispatch({ type: 'focus', box });
            }}
          />
        ))}
      </div>
      {complaint && (
        <p className={styles.failure} id={failureId}>
          {complaint.prefix && <span className={styles.prefix}>{complaint.prefix}</span>}
          <span>{complaint.description}</span>
        </p>
      )}
    </>
  );
}
