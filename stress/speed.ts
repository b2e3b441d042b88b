// How fast is the server, and what does it need? `npm run stress:speed [case…]`. Needs Linux.
import { runCases } from '#stress/harness/cases.ts';
import { desk } from '#stress/speed/desk.ts';
import { files } from '#stress/speed/files.ts';
import { flows, leads } from '#stress/speed/flows.ts';
import { memory } from '#stress/speed/memory.ts';

await runCases('stress:speed', { files, flows, memory, leads, desk });
