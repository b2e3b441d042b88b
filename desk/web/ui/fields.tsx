import { useId, type ComponentProps, type ReactNode } from 'react';

import styles from '#desk/web/ui/fields.module.css';
import { errorAttributes, FieldError } from '#web/ui/field.tsx';

type Shared = { readonly label: string; readonly error?: string | undefined };

type FieldProps = Shared & ComponentProps<'input'> & { readonly children?: ReactNode };

export function Field({ label, error, className, children, ...props }: FieldProps) {
  const id = useId();
  return (
    <div className={[styles.field, className].filter(Boolean).join(' ')}>
      <label htmlFor={id}>{label}</label>
      <input id={id} type="text" {...errorAttributes(id, error)} {...props} />
      {children}
      <FieldError id={id} error={error} />
    </div>
  );
}

type AreaProps = Shared & ComponentProps<'textarea'>;

export function AreaField({ label, error, className, ...props }: AreaProps) {
  const id = useId();
  return (
    <div className={[styles.field, className].filter(Boolean).join(' ')}>
      <label htmlFor={id}>{label}</label>
      <textarea id={id} rows={3} {...errorAttributes(id, error)} {...props} />
      <FieldError id={id} error={error} />
    </div>
  );
}

export type Option = { readonly value: string; readonly name: string };

type SelectProps = Shared & ComponentProps<'select'> & { readonly options: readonly Option[] };

export function ChoicesField({
  label,
  options,
  isChosen,
  onChange,
}: {
  readonly label: string;
  readonly options: readonly string[];
  readonly isChosen: (option: string) => boolean;
  readonly onChange: (choice: { readonly choice: string; readonly isChosen: boolean }) => void;
}) {
  return (
    <fieldset className={styles.choices}>
      <legend>{label}</legend>
      {options.map((option) => (
        <label key={option}>
          <input
            type="checkbox"
            checked={isChosen(option)}
            onChange={({ target }) => onChange({ choice: option, isChosen: target.checked })}
          />
          {option}
        </label>
      ))}
    </fieldset>
  );
}

export function SelectField({ label, error, options, className, ...props }: SelectProps) {
  const id = useId();
  return (
    <div className={[styles.field, className].filter(Boolean).join(' ')}>
      <label htmlFor={id}>{label}</label>
      <select id={id} {...errorAttributes(id, error)} {...props}>
        {options.map(({ value, name }) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
      <FieldError id={id} error={error} />
    </div>
  );
}
