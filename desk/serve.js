import { startChecked } from '../server/platform/checked-start.js';

await startChecked({ name: 'desk', serves: true, run: () => import('./serve.ts') });
