import { useId, type ComponentProps, type ReactNode } from 'react';

import styles from '#desk/web/ui/fields.module.css';
import { errorAttributes, FieldError } from '#web/ui/field.tsx';

type LabelledProps = {
  readonly label: string;
  readonly error?: string | undefined;
  readonly className?: string | undefined;
  readonly children: (id: string) => ReactNode;
};

function Labelled({ label, error, className, children }: LabelledProps) {
  const id = useId();
  return (
    <div className={['stack', styles.field, className].filter(Boolean).join(' ')}>
      <label htmlFor={id}>{label}</label>
      {children(id)}
      <FieldError id={id} error={error} />
    </div>
  );
}

type FieldProps = Pick<LabelledProps, 'label' | 'error'> & ComponentProps<'input'>;

export const Field = ({ label, error, className, ...props }: FieldProps) => (
  <Labelled label={label} error={error} className={className}>
    {(id) => <input id={id} type="text" {...errorAttributes(id, error)} {...props} />}
  </Labelled>
);

export const AreaField = ({ label, ...props }: { readonly label: string } & ComponentProps<'textarea'>) => (
  <Labelled label={label}>{(id) => <textarea id={id} rows={3} {...props} />}</Labelled>
);

/** `name` defaults to the value. */
export type Option = { readonly value: string; readonly name?: string };

/** @param chosen always offered, because the URL may contain any value */
export function optionsOf(
  any: string,
  values: readonly string[] = [],
  chosen: string | undefined,
): readonly Option[] {
  const all = chosen === undefined || values.includes(chosen) ? values : [chosen, ...values];
  return [{ value: '', name: any }, ...all.map((value) => ({ value }))];
}

type ChoicesProps = {
  readonly label: string;
  readonly options: readonly string[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
};

export const ChoicesField = ({ label, options, chosen, onChange }: ChoicesProps) => (
  <fieldset className={`stack ${styles.choices}`}>
    <legend>{label}</legend>
    {options.map((option) => (
      <label key={option}>
        <input
          type="checkbox"
          checked={chosen.includes(option)}
          onChange={({ target: { checked } }) =>
            onChange(options.filter((one) => (one === option ? checked : chosen.includes(one))))
          }
        />
        {option}
      </label>
    ))}
  </fieldset>
);

type SelectProps = { readonly label: string; readonly options: readonly Option[] } & ComponentProps<'select'>;

export const SelectField = ({ label, options, ...props }: SelectProps) => (
  <Labelled label={label}>
    {(id) => (
      <select id={id} {...props}>
        {options.map(({ value, name = value }) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    )}
  </Labelled>
);
