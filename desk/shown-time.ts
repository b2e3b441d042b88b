// Times as a person reads them, in UTC, made of ISO 8601.

/** 2026-11-21 09:30 */
export const minuteOf = (iso: string): string => iso.slice(0, 16).replace('T', ' ');

/** 2026-11-21 09:30:05 */
export const secondOf = (iso: string): string => iso.slice(0, 19).replace('T', ' ');
