import { useEffect, useEffectEvent, useId, useReducer, useRef, type Ref, type RefObject } from 'react';

import { verification as words } from '#campaign/interface.yaml';
import { codeDigits, isDigit } from '#shared/code-digits.ts';
import { CODE_LENGTH } from '#shared/lengths-and-resend.ts';
import { fill } from '#shared/words.ts';
import { NoBreak } from '#web/ui/no-break.tsx';
import {
  codeEntryReducer,
  completeCode,
  EMPTY_CODE_ENTRY,
  eventOfKey,
  type CodeEntry,
  type CodeEntryEvent,
} from '#web/verification/code-entry.ts';
import styles from '#web/verification/verification-stage.module.css';

type CodeEntryProps = {
  /** The boxes become empty when it rises. */
  readonly resets: number;
  readonly disabled: boolean;
  readonly onDigitsChange: () => void;
  /** Also called when a complete code becomes incomplete. */
  readonly onCodeChange: () => void;
  readonly onComplete: (code: string) => void;
};

type CodeBoxesProps = CodeEntryProps & {
  readonly ref: Ref<HTMLDivElement>;
  readonly headingId: string;
  readonly introId: string;
  readonly failure: string | null;
};

const BOXES_ID = 'verification-boxes';

export function CodeBoxes({ ref, headingId, introId, failure, ...props }: CodeBoxesProps) {
  const boxes = useRef<(HTMLInputElement | null)[]>([]);
  const failureId = useId();
  const { disabled } = props;
  const error = disabled ? null : failure;
  const { entry, apply, noteFocus } = useCodeEntry(boxes, props);

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
            aria-invalid={error !== null}
            aria-describedby={error === null ? undefined : failureId}
            value={digit}
            disabled={disabled}
            // Not onChange, which React does not call if the same digit is typed again.
            onInput={(event) => apply({ type: 'input', box, value: event.currentTarget.value })}
            onKeyDown={(event) => {
              if (event.ctrlKey || event.metaKey || event.altKey) return;
              const entryEvent = eventOfKey(box, event.key);
              if (entryEvent === null) return;
              event.preventDefault();
              apply(entryEvent);
            }}
            onPaste={(event) => {
              event.preventDefault();
              apply({ type: 'paste', box, text: event.clipboardData.getData('text') });
            }}
            // Without select(), which would keep WebKit from scrolling to the box.
            onFocus={() => noteFocus(box)}
          />
        ))}
      </div>
      {error && (
        <p className={styles.failure} id={failureId}>
          <NoBreak text={error} />
        </p>
      )}
    </>
  );
}

type Boxes = RefObject<(HTMLInputElement | null)[]>;

function useCodeEntry(
  boxes: Boxes,
  { resets, disabled, onDigitsChange, onCodeChange, onComplete }: CodeEntryProps,
) {
  const [entry, dispatch] = useReducer(codeEntryReducer, EMPTY_CODE_ENTRY);
  const submitted = useRef<string | null>(null);
  /** Another whole code, pasted while the server checked the previous one. */
  const pendingPaste = useRef<CodeEntryEvent | null>(null);

  const apply = (event: CodeEntryEvent) => {
    if (disabled) {
      const pasted = event.type === 'paste' ? codeDigits(event.text) : '';
      if (pasted.length === CODE_LENGTH && pasted !== submitted.current) pendingPaste.current = event;
      return;
    }
    const next = codeEntryReducer(entry, event);
    dispatch(event);
    if (next.digits !== entry.digits) onDigitsChange();
    boxes.current[next.focus]?.focus();
    boxes.current[next.focus]?.select();
    const code = completeCode(next);
    if (code !== completeCode(entry)) onCodeChange();
    // A second autofill of the same code is not another attempt.
    if (code !== null && code !== submitted.current) {
      submitted.current = code;
      onComplete(code);
    }
    if (code === null) submitted.current = null;
  };

  // React runs these effects in this order: empty the boxes, focus the first one, apply the paste.
  useEffect(() => {
    if (resets === 0) return;
    submitted.current = null;
    dispatch({ type: 'reset' });
  }, [resets]);
  useFocusOfBoxes(boxes, disabled);
  const applyPendingPaste = useEffectEvent(() => {
    const event = pendingPaste.current;
    pendingPaste.current = null;
    if (event) apply(event);
  });
  useEffect(() => {
    if (!disabled) applyPendingPaste();
  }, [disabled]);
  useStrayInput(entry, apply);

  return { entry, apply, noteFocus: (box: number) => dispatch({ type: 'focus', box }) };
}

function useFocusOfBoxes(boxes: Boxes, disabled: boolean): void {
  const wasDisabled = useRef(false);
  useEffect(() => {
    const focused = document.activeElement;
    // Disabled boxes lose the focus, sometimes a moment later. Another focused element keeps it.
    const isFree = focused === document.body || boxes.current.some((box) => box === focused);
    if (wasDisabled.current && !disabled && isFree) boxes.current[0]?.focus();
    wasDisabled.current = disabled;
  }, [boxes, disabled]);

  useEffect(() => {
    boxes.current[0]?.focus({ preventScroll: true });
  }, [boxes]);
}

/** Digits typed or pasted while no box has the focus go to the current box. */
function useStrayInput(entry: CodeEntry, apply: (event: CodeEntryEvent) => void): void {
  const onStrayInput = useEffectEvent((event: KeyboardEvent | ClipboardEvent) => {
    if (event.target instanceof HTMLInputElement) return;
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
}
