// A time in the reader's zone, with UTC on hover.
import { dateTime, shortTime, utcTime } from '#desk/web/ui/dates.ts';
import { parts as words } from '#desk/web/words.ts';

type DateTimeProps = {
  /** ISO 8601. Null: not known. */
  readonly at: string | null;
  /** Left out where it goes without saying: the day of today, the year of this year. */
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
