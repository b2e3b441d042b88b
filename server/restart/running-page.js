// Reads and writes data/server.json of an instance folder, in which the primary (primary.js) notes which page runs, for
// `npm run restart`. In plain JavaScript, as the primary is.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * @typedef {object} Running
 * @property {number} pid of the primary, which takes SIGHUP
 * @property {string} born when it began: a later process may get the same pid
 * @property {string} code hash of its primary.js: only a whole start replaces that
 * @property {number} asked number of requests for a new worker
 * @property {number} answered number of the last request that is done
 * @property {'taken' | 'refused' | null} outcome of that request
 * @property {string} sentence about it
 * @property {readonly string[]} warnings of the new worker; missing when the primary is of an earlier release
 */

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..', '..');

/** The path of that file, in the folder that INSTANCE_FOLDER names. */
export function runningFile() {
  const named = process.env['INSTANCE_FOLDER']?.trim();
  return path.join(named ? path.resolve(named) : PROJECT_FOLDER, 'data', 'server.json');
}

/**
 * When a process began, in the words of its system.
 * @param {number} pid
 * @returns {string | null} null when there is no such process, or a zombie
 */
export function bornAt(pid) {
  if (process.platform !== 'linux') {
    const { stdout, status } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
    return status === 0 && stdout.trim() !== '' ? stdout.trim() : null;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name, before it, can hold any character. Field 3 is the state, field 22 the time since the machine was started.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const machine = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return fields[0] === 'Z' ? null : `${machine} ${fields[19]}`;
  } catch {
    return null;
  }
}

/**
 * @param {string} file
 * @returns {Running | null} null when no page runs, also if a killed one left its file behind, or the file is broken
 */
export function readRunning(file) {
  try {
    /** @type {unknown} */
    const running = JSON.parse(readFileSync(file, 'utf8'));
    return isRunning(running) && bornAt(running.pid) === running.born ? running : null;
  } catch {
    return null;
  }
}

/**
 * Whether {@link writeRunning} could have written it. A signal goes to its pid, and 0 or -1 would mean more than one process.
 * @param {unknown} value
 * @returns {value is Running}
 */
function isRunning(value) {
  const { pid, born, code, asked, answered, sentence } = /** @type {Partial<Running>} */ (Object(value));
  return (
    Number.isSafeInteger(pid) &&
    Number(pid) > 0 &&
    [born, code, sentence].every((text) => typeof text === 'string') &&
    [asked, answered].every(Number.isSafeInteger)
  );
}

/**
 * Writes it, whole or not at all. Makes the folder if there is none, for its owner alone.
 * @param {string} file
 * @param {Running} running
 */
export function writeRunning(file, running) {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const beside = `${file}.${running.pid}`;
  writeFileSync(beside, JSON.stringify(running), { mode: 0o600 });
  renameSync(beside, file);
}

/**
 * Removes it, if it still names that process.
 * @param {string} file
 * @param {number} pid
 */
export function removeRunning(file, pid) {
  try {
    const { pid: owner } = /** @type {Running} */ (JSON.parse(readFileSync(file, 'utf8')));
    if (owner === pid) rmSync(file);
  } catch {
    // There is none.
  }
}
