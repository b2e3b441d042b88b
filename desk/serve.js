import { startChecked } from '../server/platform/checked-start.js';

await startChecked({ name: 'desk', builds: false, serves: true, run: () => import('./serve.ts') });
