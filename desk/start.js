import { startChecked } from '../server/platform/checked-start.js';

await startChecked({ name: 'desk', serves: false, run: () => import('./desk.ts') });
