// What is known of the page that runs from an instance folder: data/server.json, which the primary (primary.js) writes and
// `npm run restart` reads. In plain JavaScript, as the primary is.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * @typedef {object} Running
 * @property {number} pid of the primary, which SIGHUP is for
 * @property {string} born tells it from another process that was given its number later
 * @property {string} code of which primary.js it is: a new one is only taken by a whole start
 * @property {number} asked how often it was asked to take a new worker
 * @property {number} answered the last of these that is over
 * @property {'taken' | 'refused' | null} outcome of that one
 * @property {string} sentence about it
 * @property {readonly string[]} warnings what the new worker warns of; not there when the primary is of an earlier release
 */

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..', '..');

/** Where it is kept: in the folder that INSTANCE_FOLDER names, as the database is. */
export function runningFile() {
  const named = process.env['INSTANCE_FOLDER']?.trim();
  return path.join(named ? path.resolve(named) : PROJECT_FOLDER, 'data', 'server.json');
}

/**
 * When a process began, as its system tells it.
 * @param {number} pid
 * @returns {string | null} null when there is none, or only what is left of one
 */
export function bornAt(pid) {
  if (process.platform !== 'linux') {
    const { stdout, status } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
    return status === 0 && stdout.trim() !== '' ? stdout.trim() : null;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name before may hold anything. Field 3 is the state, field 22 the time since the machine was started.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const machine = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return fields[0] === 'Z' ? null : `${machine} ${fields[19]}`;
  } catch {
    return null;
  }
}

/**
 * @param {string} file
 * @returns {Running | null} null when no page runs: a file that a killed one left behind, or that is broken, says nothing
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
 * Whether it is what {@link writeRunning} writes: a signal goes to the number in it, and 0 or -1 would be more than one process.
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
 * Takes it away, if it is still that process's own.
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
