import { useTimeZone } from '#desk/web/queries.ts';
import { dateTime, shortTime, utcTime, NONE } from '#desk/web/format.ts';

type DateTimeProps = {
  /** ISO 8601; null if unknown. */
  readonly at: string | null;
  /** If true, omits today's date and the current year. */
  readonly isShort?: boolean;
};

export function DateTime({ at, isShort = false }: DateTimeProps) {
  const timeZone = useTimeZone();
  if (at === null) return NONE;
  return (
    <time dateTime={at} title={`${utcTime(at)} UTC`}>
      {isShort ? shortTime(at, timeZone) : dateTime(at, timeZone)}
    </time>
  );
}
