// The time for countdowns. A device may set its clock back while one runs: time servers do, and travellers.

let last = Date.now();
let takenBack = 0;

/** Milliseconds since 1970 that never go back, and count the time a device sleeps (performance.now() does not everywhere). */
export function timeNow(): number {
  const clock = Date.now();
  if (clock < last) takenBack += last - clock;
  last = clock;
  return clock + takenBack;
}
