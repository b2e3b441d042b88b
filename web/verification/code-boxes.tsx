// The six boxes. What each key does is in code-entry.ts; this is its picture.
import { useEffect, useEffectEvent, useReducer, useRef, type KeyboardEvent } from 'react';

import { verification as words } from '#campaign/interface.yaml';
import { CODE_LENGTH } from '#shared/limits.ts';
import { fill } from '#shared/words.ts';
import {
  codeEntryReducer,
  completeCode,
  EMPTY_CODE_ENTRY,
  type CodeEntryEvent,
} from '#web/verification/code-entry.ts';
import styles from '#web/verification/verification-stage.module.css';

type CodeBoxesProps = {
  /** How often a code was refused. When it grows, the boxes are emptied and the first one takes the focus. */
  readonly refusals: number;
  readonly disabled: boolean;
  /** Called once each time all six boxes become filled. */
  readonly onComplete: (code: string) => void;
};

const MOVES: Readonly<Record<string, Extract<CodeEntryEvent, { type: 'move' }>['to']>> = {
  ArrowLeft: 'previous',
  ArrowRight: 'next',
  Home: 'first',
  End: 'last',
};

/** The one-time code, one digit a box. */
export function CodeBoxes({ refusals, disabled, onComplete }: CodeBoxesProps) {
  const [entry, dispatch] = useReducer(codeEntryReducer, EMPTY_CODE_ENTRY);
  const boxes = useRef<(HTMLInputElement | null)[]>([]);
  const submitted = useRef<string | null>(null);

  const focusBox = (box: number) => {
    boxes.current[box]?.focus();
    boxes.current[box]?.select();
  };

  const apply = (event: CodeEntryEvent) => {
    const next = codeEntryReducer(entry, event);
    dispatch(event);
    focusBox(next.focus);
    const code = completeCode(next);
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

  // The boxes take the focus as soon as they are usable again: they lost it when they were disabled.
  const wasDisabled = useRef(false);
  useEffect(() => {
    if (wasDisabled.current && !disabled) boxes.current[0]?.focus();
    wasDisabled.current = disabled;
  }, [disabled]);

  // The stage begins with the focus on its heading; whoever types or pastes there means the boxes.
  const onStrayInput = useEffectEvent((event: globalThis.KeyboardEvent | ClipboardEvent) => {
    if (disabled || event.target instanceof HTMLInputElement) return;
    if (event instanceof ClipboardEvent) {
      apply({ type: 'paste', box: entry.focus, text: event.clipboardData?.getData('text') ?? '' });
    } else if (/^[0-9]$/.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      apply({ type: 'input', box: entry.focus, value: event.key });
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
    <div className={styles.boxes} role="group" aria-label={fill(words.code, { digits: CODE_LENGTH })}>
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
          aria-invalid={refusals > 0 && entry.digits.every((one) => one === '')}
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
  );
}
