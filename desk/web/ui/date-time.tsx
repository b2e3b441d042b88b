import { dateTime, shortTime, utcTime } from '#desk/web/ui/dates.ts';
import { parts as words } from '#desk/web/words.ts';

type DateTimeProps = {
  /** ISO 8601; null if unknown. */
  readonly at: string | null;
  /** Omits today's date and the current year. */
  readonly isShort?: boolean;
};

export function DateTime({ at, isShort = false }: DateTimeProps) {
  if (at === null) return words.none;
  return (
    <time dateTime={at} title={words.utc(utcTime(at))}>
      {isShort ? shortTime(at) : dateTime(at)}
    </time>
  );
}
