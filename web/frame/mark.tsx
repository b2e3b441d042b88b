/** The product's mark: a letter whose flap is a tick. */
export function Mark() {
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
      <path d="M1.5 4.5v12a2 2 0 0 0 2 2h19a2 2 0 0 0 2-2v-12" />
      <path d="m1.5 4.5 8.5 8 14-11" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
