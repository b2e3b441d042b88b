// A device may set its clock back during a countdown, after a time server's correction or a journey.

let last = Date.now();
let takenBack = 0;

/** Never goes back. Counts sleep, which performance.now() does not in every browser. */
export function timeNow(): number {
  const clock = Date.now();
  if (clock < last) takenBack += last - clock;
  last = clock;
  return clock + takenBack;
}
