// The server and the desk run this file first. It is plain JavaScript, so even an old Node can report that it is too old.
import { readFileSync } from 'node:fs';
// Imported as namespaces, because a named import that an old Node lacks would fail before its version is checked.
import * as module from 'node:module';
import * as net from 'node:net';
import { fileURLToPath } from 'node:url';

/** The oldest version that runs our TypeScript. npm scripts use the pinned version. */
const OLDEST_NODE = { major: 24, minor: 16 };
/**
 * Timeout per IP address when a host has several. With Node's 250 ms, a slow server with a second, unreachable IP address would
 * never be reached.
 */
const ADDRESS_ATTEMPT_MS = 2_500;
const INSTALL = 'Run "npm ci" in the project folder.';
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
 * @typedef {{ version?: string, dependencies?: Versions }} Package
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
 * Ends the process with a sentence if Node or a package has the wrong version; otherwise runs the program.
 * @param {object} start
 * @param {'server' | 'desk'} start.name
 * @param {boolean} start.serves false for a desk command, which starts a tenth faster without Fastify
 * @param {() => Promise<unknown>} start.run imports the program
 */
export async function startChecked({ name: program, serves, run }) {
  /**
   * @param {string} sentence
   * @returns {never}
   */
  function refuse(sentence) {
    process.stderr.write(`The ${program} cannot start:\n  - ${sentence}\n`);
    process.exit(1);
  }

  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < OLDEST_NODE.major || (major === OLDEST_NODE.major && minor < OLDEST_NODE.minor)) {
    const needed = `${OLDEST_NODE.major}.${OLDEST_NODE.minor}`;
    refuse(
      readPackage('node_modules/node/package.json')
        ? `Node ${process.versions.node} is too old. Version ${needed} is needed. Use "npm start", which runs the required version.`
        : `Node ${process.versions.node} is too old, and the newer version that comes with this software is not installed. ${INSTALL}`,
    );
  }
  net.setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_ATTEMPT_MS);
  const { dependencies: wanted = {} } = readPackage('package.json') ?? {};
  for (const [name, version] of Object.entries(wanted)) {
    const found = readPackage(`node_modules/${name}/package.json`)?.version;
    if (found === undefined) refuse(`The package ${name} is missing. ${INSTALL}`);
    if (found !== version)
      refuse(`The package ${name} is installed in version ${found} instead of ${version}. ${INSTALL}`);
  }

  try {
    // Large packages are loaded before the compile cache is enabled: caching them would cost much memory and save little
    // time.
    const large = [...LARGE_PACKAGES, ...(serves ? ['fastify'] : [])].filter((name) =>
      Object.hasOwn(wanted, name.replace(/\/.*/, '')),
    );
    await Promise.all(large.map((name) => import(name)));
    // Once used, Node's TypeScript compiler occupies 25 MB. Only --check uses it, before each `npm start`; the server then
    // reads the cache.
    module.enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url)));
    await run();
  } catch (error) {
    const message =
      error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND' ? error.message : '';
    const [, name] = /Cannot find package '([^']+)'/.exec(message) ?? [];
    if (name !== undefined) refuse(`The package ${name} is missing. ${INSTALL}`);
    // main.ts logs the error, and the desk prints it.
    if (process.listenerCount('uncaughtException') > 0) throw error;
    const { explainSystemFailure, stackOf, describeBug } = await import('./system-errors.ts');
    refuse(explainSystemFailure(error) ?? describeBug(stackOf(error)));
  }
}
