import { startChecked } from '../server/platform/checked-start.js';

await startChecked({ name: 'desk', builds: false, serves: false, run: () => import('./desk.ts') });
