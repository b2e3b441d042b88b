// What can an attacker do? `npm run stress:attacks [case…]`
import { breaker } from '#stress/attacks/breaker.ts';
import { fuzz } from '#stress/attacks/fuzz.ts';
import { guessing } from '#stress/attacks/guessing.ts';
import { timing } from '#stress/attacks/timing.ts';
import { runCases } from '#stress/harness/cases.ts';

await runCases('stress:attacks', { guessing, breaker, timing, fuzz });
