import { useId, type ComponentProps } from 'react';

import { fields, messages } from '#campaign/form.yaml';
import type { OwnField } from '#shared/campaign-schema.ts';
import type { TypedAnswers } from '#shared/lead.ts';
import { longestAnswer } from '#shared/lengths-and-resend.ts';
import styles from '#web/form/own-fields.module.css';
import type { LeadErrors } from '#web/form/lead-draft.ts';
import { CheckboxField, FieldError, errorAttributes } from '#web/ui/field.tsx';
import fieldStyles from '#web/ui/field.module.css';

type Answer = TypedAnswers[string];

type OwnFieldsProps = {
  readonly answers: TypedAnswers;
  readonly errors: LeadErrors;
  readonly onChange: (answers: TypedAnswers) => void;
};

export function OwnFields({ answers, errors, onChange }: OwnFieldsProps) {
  return (
    <div className={styles.fields}>
      {fields.map((field) => {
        const name = `answers.${field.id}`;
        const props = {
          field,
          name,
          error: errors[name],
          onAnswer: (answer: Answer) => onChange({ ...answers, [field.id]: answer }),
        };
        const answer = answers[field.id];
        return field.kind === 'choices' ? (
          <Choices key={name} {...props} chosen={Array.isArray(answer) ? answer : []} />
        ) : (
          <OneAnswer key={name} {...props} text={typeof answer === 'string' ? answer : ''} />
        );
      })}
    </div>
  );
}

type OneFieldProps = {
  readonly field: OwnField;
  readonly name: string;
  readonly error: string | undefined;
  readonly onAnswer: (answer: Answer) => void;
};

const labelOf = ({ label, required }: OwnField): string => (required ? `${label} *` : label);

const KINDS: Readonly<Partial<Record<OwnField['kind'], ComponentProps<'input'>>>> = {
  text: { autoCapitalize: 'sentences', dir: 'auto' },
  telephone: { type: 'tel', autoComplete: 'tel' },
  number: { inputMode: 'decimal', dir: 'ltr' },
  // Not type="url", which refuses a URL without https://.
  url: { inputMode: 'url', autoComplete: 'url', autoCapitalize: 'none', spellCheck: false, dir: 'ltr' },
};

function OneAnswer({ field, name, error, text, onAnswer }: OneFieldProps & { readonly text: string }) {
  const id = useId();
  const { kind, required = false, hint, autocomplete, options = [] } = field;
  const shared = {
    ...describedBy(id, hint, error),
    id,
    name,
    required,
    autoComplete: autocomplete,
    value: text,
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      onAnswer(event.currentTarget.value),
  };
  // A longer pasted text gets an error, because a visitor would not notice that it was cut off.
  const maxLength = longestAnswer(field) * 2;
  return (
    <div className={fieldStyles.field}>
      <label className={fieldStyles.label} htmlFor={id}>
        {labelOf(field)}
      </label>
      {hint !== undefined && <Hint id={id} text={hint} />}
      {kind === 'choice' ? (
        <select className={`${fieldStyles.input} ${styles.select}`} {...shared}>
          <option value="">{messages.choose}</option>
          {options.map((option) => (
            // Without a value, the answer would be the text, which translation tools change.
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </select>
      ) : kind === 'long text' ? (
        <textarea
          className={`${fieldStyles.input} ${styles.area}`}
          rows={4}
          dir="auto"
          maxLength={maxLength}
          {...shared}
        />
      ) : (
        <input
          className={fieldStyles.input}
          type="text"
          enterKeyHint="next"
          maxLength={maxLength}
          {...KINDS[kind]}
          {...shared}
          autoComplete={autocomplete ?? KINDS[kind]?.autoComplete}
        />
      )}
      <FieldError id={id} error={error} />
    </div>
  );
}

function Choices({
  field,
  name,
  error,
  chosen,
  onAnswer,
}: OneFieldProps & { readonly chosen: readonly string[] }) {
  const id = useId();
  const { hint, options = [] } = field;
  return (
    <fieldset className={styles.group} {...describedBy(id, hint, undefined)}>
      <legend className={fieldStyles.label}>{labelOf(field)}</legend>
      {hint !== undefined && <Hint id={id} text={hint} />}
      <div className={styles.options}>
        {options.map((option) => (
          <CheckboxField
            key={option}
            name={name}
            label={option}
            checked={chosen.includes(option)}
            {...errorAttributes(id, error)}
            onChange={(event) => {
              const { checked } = event.currentTarget;
              onAnswer(options.filter((one) => (one === option ? checked : chosen.includes(one))));
            }}
          />
        ))}
      </div>
      <FieldError id={id} error={error} />
    </fieldset>
  );
}

const hintId = (id: string): string => `${id}-hint`;

function Hint({ id, text }: { readonly id: string; readonly text: string }) {
  return (
    <p className={styles.hint} id={hintId(id)}>
      {text}
    </p>
  );
}

function describedBy(id: string, hint: string | undefined, error: string | undefined) {
  const attributes = errorAttributes(id, error);
  const ids = [hint === undefined ? [] : hintId(id), attributes['aria-describedby'] ?? []].flat();
  return {
    ...(error !== undefined && { 'aria-invalid': true }),
    'aria-describedby': ids.length === 0 ? undefined : ids.join(' '),
  };
}
