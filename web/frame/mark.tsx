import { MARK_LINES } from '#shared/drawings.ts';

export function Mark() {
  const [letter, tick] = MARK_LINES;
  return (
    <svg
      width="26"
      height="20"
      viewBox="0 0 26 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.75"
      aria-hidden
    >
      <path d={letter} />
      <path d={tick} strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
