/** Example: 2026-11-21 09:30 */
export const minuteOf = (iso: string): string => iso.slice(0, 16).replace('T', ' ');

/** Example: 2026-11-21 09:30:05 */
export const secondOf = (iso: string): string => iso.slice(0, 19).replace('T', ' ');
