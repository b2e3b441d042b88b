import { useId, type ComponentProps, type ReactNode } from 'react';

import styles from '#web/ui/field.module.css';

type FieldProps = ComponentProps<'input'> & {
  readonly label: ReactNode;
  readonly error?: string | undefined;
};

export function TextField({
  label,
  error,
  children,
  ...props
}: FieldProps & { readonly children?: ReactNode }) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      <input id={id} className={styles.input} type="text" {...errorAttributes(id, error)} {...props} />
      {children}
      <FieldError id={id} error={error} />
    </div>
  );
}

export function CheckboxField({ label, error, ...props }: FieldProps) {
  const id = useId();
  return (
    <div className={styles.choice}>
      <input id={id} type="checkbox" {...errorAttributes(id, error)} {...props} />
      <label htmlFor={id}>{label}</label>
      <FieldError id={id} error={error} />
    </div>
  );
}

const errorId = (id: string): string => `${id}-error`;

export const errorAttributes = (id: string, error: string | undefined) => ({
  'aria-invalid': error !== undefined,
  'aria-describedby': error === undefined ? undefined : errorId(id),
});

export function FieldError({ id, error }: { readonly id: string; readonly error: string | undefined }) {
  if (error === undefined) return null;
  return (
    <p className={styles.error} id={errorId(id)}>
      {error}
    </p>
  );
}
