// The first file of the desk in a browser, which the page's process starts when DESK_URL is set.
import { startChecked } from '../server/platform/checked-start.js';

await startChecked({ name: 'desk', builds: false, serves: true, run: () => import('./serve.ts') });
