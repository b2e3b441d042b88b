// Runs first in the page and in the desk. Plain JavaScript, so that even an old Node can read it, and report in one sentence that it is
// too old or that a package is missing.
import { readFileSync } from 'node:fs';
import * as module from 'node:module';
import * as net from 'node:net';
import { fileURLToPath } from 'node:url';

/** The oldest that runs our TypeScript. npm scripts run the pinned one. */
const OLDEST_NODE = { major: 24, minor: 16 };
/**
 * How long a connection to one of several addresses may take before the next one is tried. With Node's quarter of a second, a slow server
 * whose other address cannot be reached would never be reached either.
 */
const ADDRESS_ATTEMPT_MS = 2_500;
const INSTALL = 'Run "npm ci" in the folder of the project.';
/** Packages that are always loaded. Leaving one out costs memory and nothing else. */
const LARGE_PACKAGES = [
  'kysely',
  'micromark',
  'nodemailer',
  'pg',
  'pino',
  'prom-client',
  'tldts',
  'yaml',
  'zod/mini',
];

/**
 * @typedef {Record<string, string>} Versions
 * @typedef {{ version?: string, dependencies?: Versions, devDependencies?: Versions, buildPackages?: string[] }} Package
 * @param {string} file
 * @returns {Package | null}
 */
function readPackage(file) {
  try {
    return /** @type {Package} */ (
      JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'))
    );
  } catch {
    return null;
  }
}

/**
 * Checks Node and the packages, and ends the process with a sentence if they are wrong; then runs the rest.
 * @param {object} start
 * @param {'server' | 'desk'} start.name what cannot start, as the sentence calls it
 * @param {boolean} start.builds whether the packages for building are needed too
 * @param {boolean} start.serves whether it listens: a command of the desk starts a tenth sooner without the web framework
 * @param {() => Promise<unknown>} start.run imports what is started
 */
export async function startChecked({ name: what, builds, serves, run }) {
  /**
   * @param {string} sentence
   * @returns {never}
   */
  function refuse(sentence) {
    process.stderr.write(`The ${what} cannot start:\n  - ${sentence}\n`);
    process.exit(1);
  }

  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < OLDEST_NODE.major || (major === OLDEST_NODE.major && minor < OLDEST_NODE.minor)) {
    const needed = `${OLDEST_NODE.major}.${OLDEST_NODE.minor}`;
    refuse(
      readPackage('node_modules/node/package.json')
        ? `Node ${process.versions.node} is too old; ${needed} is needed. Use "npm start", which brings its own.`
        : `Node ${process.versions.node} is too old, and the newer one that this page brings is not installed. ${INSTALL}`,
    );
  }
  net.setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_ATTEMPT_MS);
  const {
    dependencies: wanted = {},
    devDependencies = {},
    buildPackages = [],
  } = readPackage('package.json') ?? {};
  // A server that runs needs none of them: npm start builds first, and an image is built.
  const forBuilding = Object.entries(devDependencies).filter(([name]) => buildPackages.includes(name));
  for (const [name, version] of [...Object.entries(wanted), ...(builds ? forBuilding : [])]) {
    const found = readPackage(`node_modules/${name}/package.json`)?.version;
    if (found === undefined) refuse(`The package ${name} is missing. ${INSTALL}`);
    if (found !== version)
      refuse(`The package ${name} is here in version ${found}, not ${version}. ${INSTALL}`);
  }

  try {
    // Loaded before the compile cache is on: for packages, it would cost more memory than the time is worth.
    const large = [...LARGE_PACKAGES, ...(serves ? ['fastify'] : [])].filter((name) =>
      Object.hasOwn(wanted, name.replace(/\/.*/, '')),
    );
    await Promise.all(large.map((name) => import(name)));
    // Node's translator of TypeScript takes 25 MB for good once it is used. The cache keeps what it made of each of our files, so only
    // --check uses it, which runs before each `npm start`. A changed file is translated again.
    module.enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url)));
    await run();
  } catch (error) {
    const message =
      error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND' ? error.message : '';
    // A package of a package; for one of our files, Node would write a path.
    const [, name] = /Cannot find package '([^']+)'/.exec(message) ?? [];
    if (name !== undefined) refuse(`The package ${name} is missing. ${INSTALL}`);
    // main.ts logs it; the desk prints it.
    if (process.listenerCount('uncaughtException') > 0) throw error;
    const { explainSystemFailure, linesOf, sayFault } = await import('./machine-failures.ts');
    refuse(explainSystemFailure(error) ?? sayFault(linesOf(error)));
  }
}
