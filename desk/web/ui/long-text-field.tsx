// A labelled text of several lines.
import { useId, type ComponentProps, type ReactNode } from 'react';

import styles from '#desk/web/ui/long-text-field.module.css';
import field from '#web/ui/field.module.css';

export function LongTextField({
  label,
  children,
  ...props
}: ComponentProps<'textarea'> & { readonly label: string; readonly children?: ReactNode }) {
  const id = useId();
  return (
    <div className={field.field}>
      <label className={field.label} htmlFor={id}>
        {label}
      </label>
      <textarea id={id} className={`${field.input} ${styles.area}`} rows={4} {...props} />
      {children}
    </div>
  );
}
