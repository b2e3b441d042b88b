import { useEffect, useEffectEvent, useReducer, useRef, type RefObject } from 'react';

import { codeDigits, isDigit } from '#shared/code-digits.ts';
import { CODE_LENGTH } from '#shared/limits.ts';
import {
  codeEntryReducer,
  completeCode,
  EMPTY_CODE_ENTRY,
  type CodeEntry,
  type CodeEntryEvent,
} from '#web/verification/code-entry.ts';

type Boxes = RefObject<(HTMLInputElement | null)[]>;

export type CodeEntryProps = {
  readonly boxes: Boxes;
  readonly refusals: number;
  readonly disabled: boolean;
  readonly onType: () => void;
  readonly onEdit: () => void;
  readonly onComplete: (code: string) => void;
};

type CodeEntryState = {
  readonly entry: CodeEntry;
  readonly apply: (event: CodeEntryEvent) => void;
  readonly noteFocus: (box: number) => void;
};

export function useCodeEntry({
  boxes,
  refusals,
  disabled,
  onType,
  onEdit,
  onComplete,
}: CodeEntryProps): CodeEntryState {
  const [entry, dispatch] = useReducer(codeEntryReducer, EMPTY_CODE_ENTRY);
  const submitted = useRef<string | null>(null);

  const waiting = useRef<CodeEntryEvent | null>(null);

  const apply = (event: CodeEntryEvent) => {
    if (disabled) {
      if (event.type === 'paste' && codeDigits(event.text).length === CODE_LENGTH) waiting.current = event;
      return;
    }
    const next = codeEntryReducer(entry, event);
    dispatch(event);
    if (next.digits !== entry.digits) onType();
    boxes.current[next.focus]?.focus();
    boxes.current[next.focus]?.select();
    const code = completeCode(next);
    if (code !== completeCode(entry)) onEdit();
    // A second autofill of the same code is not another attempt.
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
  useFocusOfBoxes(boxes, disabled);
  const applyWaiting = useEffectEvent(() => {
    const event = waiting.current;
    waiting.current = null;
    if (event) apply(event);
  });
  useEffect(() => {
    if (!disabled) applyWaiting();
  }, [disabled]);
  useStrayInput({ entry, apply });

  return { entry, apply, noteFocus: (box) => dispatch({ type: 'focus', box }) };
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

function useStrayInput({ entry, apply }: Pick<CodeEntryState, 'entry' | 'apply'>): void {
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
