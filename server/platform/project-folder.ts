import path from 'node:path';

/** The folder of package.json. */
export const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..', '..');
