let lastNow = Date.now();
let setBackMs = 0;

/**
 * Never goes back, even if the device's clock is corrected during a countdown. Includes time asleep, which performance.now()
 * omits in some browsers.
 */
export function timeNow(): number {
  const now = Date.now();
  if (now < lastNow) setBackMs += lastNow - now;
  lastNow = now;
  return now + setBackMs;
}
