// The process of `npm start`. It keeps the ports and serves nobody: one worker (start.js) does, and accepts from them by itself.
// On SIGHUP it has another worker started from the files as they are now; once that one serves, the one before finishes what it has
// in hand and ends. The sockets stay open all the while, so nobody is refused. SIGTERM and SIGINT end both. In plain JavaScript and
// without a package, because it lives as long as the page does (docs/decisions/0025-the-port-is-kept.md).
import cluster from 'node:cluster';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { bornAt, removeRunning, runningFile, writeRunning } from './running-page.js';

/** @typedef {{ readonly status: number, readonly sentence: string }} Health */
/** @typedef {{ readonly type: 'ready', readonly health?: Health } | { readonly type: 'ended', readonly why: string }} Start */
/** @typedef {{ readonly worker: import('node:cluster').Worker, readonly started: Promise<Start>, readonly ended: Promise<number>, isReady: boolean }} Page */

/** A large database takes its time to be brought up to date. */
const READY_WITHIN_MS = 600_000;
const LAST_WORDS_LENGTH = 4_000;
const MOST_UNREAD_BYTES = 1024 * 1024;

// Each worker accepts by itself. Otherwise every connection would pass through here, and what has no worker yet would be lost.
cluster.schedulingPolicy = cluster.SCHED_NONE;
// Its complaints are passed on, and told to whoever asked for the restart.
const stdio = ['inherit', 'inherit', 'pipe', 'ipc'];
const exec = path.join(import.meta.dirname, 'start.js');

const file = runningFile();
/** @type {import('./running-page.js').Running} */
const running = {
  pid: process.pid,
  born: bornAt(process.pid) ?? '',
  code: createHash('sha256')
    .update(readFileSync(fileURLToPath(import.meta.url)))
    .digest('base64url'),
  asked: 0,
  answered: 0,
  outcome: null,
  sentence: '',
};

/** @type {Set<Page>} */
const pages = new Set();
/** The one that serves. @type {Page | null} */
let serving = null;
let isStopping = false;
let isUpgrading = false;
let interrupts = 0;
/** What this process will end with. */
let exitCode = 0;

// A disk that is full, or a reader that has gone, is no reason to end.
process.stderr.on('error', () => {});

/** @param {Buffer | string} text */
function complain(text) {
  // A reader that reads no more must not have us keep it all.
  if (process.stderr.writableLength < MOST_UNREAD_BYTES) process.stderr.write(text);
}

/**
 * @param {readonly string[]} args
 * @returns {Page}
 */
function startPage(args) {
  cluster.setupPrimary({ exec, args: [...args], execArgv: ['--no-memory-reducer'], stdio });
  const worker = cluster.fork();
  const child = worker.process;
  let lastWords = '';
  child.stderr?.on('data', (/** @type {Buffer} */ chunk) => {
    complain(chunk);
    lastWords = `${lastWords}${String(chunk)}`.slice(-LAST_WORDS_LENGTH);
  });
  // A program that is not there, or a worker that ends while it is told something. Its end is told below; unheard, this would be ours.
  worker.on('error', (/** @type {NodeJS.ErrnoException} */ { code, syscall, path: program }) => {
    if (syscall?.startsWith('spawn'))
      lastWords += `${program} cannot be run (${code}). Run "npm ci" in the folder of the project, and try again.`;
  });
  /** @type {(start: Start) => void} */
  let tellStarted = () => {};
  /** @type {(code: number) => void} */
  let tellEnded = () => {};
  /** @type {Page} */
  const page = {
    worker,
    // An older Node, which the worker refuses with a sentence, knows no Promise.withResolvers.
    started: new Promise((resolve) => (tellStarted = resolve)),
    ended: new Promise((resolve) => (tellEnded = resolve)),
    isReady: false,
  };
  pages.add(page);
  worker.on('message', (/** @type {{ type?: unknown, health?: Health }} */ { type, health }) => {
    if (type !== 'ready') return;
    page.isReady = true;
    tellStarted({ type, ...(health && { health }) });
  });
  // Not "exit": its complaints have been read by then.
  child.on('close', (code, signal) => {
    pages.delete(page);
    tellStarted({ type: 'ended', why: lastWords });
    const number = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
    tellEnded(number);
    onEnd(page, number);
  });
  return page;
}

/**
 * @param {Page} page
 * @param {number} code
 */
function onEnd(page, code) {
  if (page === serving && !isStopping) {
    // Whoever watches this process (systemd, a container) starts it again; so it must not outlive what it is there for.
    exitCode = code;
    stop('SIGTERM');
  } else if (page === serving) exitCode = code;
  if (isStopping && pages.size === 0) end(exitCode);
}

/**
 * @param {number} code
 * @returns {never}
 */
function end(code) {
  removeRunning(file, process.pid);
  process.exit(code);
}

/**
 * @param {Page} page
 * @param {NodeJS.Signals} signal
 */
function stopPage({ worker, isReady }, signal) {
  // A worker leaves SIGINT to us: a terminal sends it to both, and npm once more.
  if (isReady) worker.send({ type: 'stop', signal });
  else worker.process.kill('SIGTERM');
}

/** @param {NodeJS.Signals} signal */
function stop(signal) {
  if (isStopping) return;
  isStopping = true;
  for (const page of pages) stopPage(page, signal);
  if (pages.size === 0) end(exitCode);
}

process.on('SIGTERM', stop);
process.on('SIGINT', (signal) => {
  interrupts += 1;
  // npm passes on every Ctrl-C that the terminal has sent here already: the second signal says nothing, the third one means it.
  if (interrupts >= 3) {
    for (const { worker } of pages) worker.process.kill('SIGKILL');
    end(130);
  }
  stop(signal);
});
process.on('SIGHUP', () => {
  running.asked += 1;
  tell();
  void upgrade();
});

/** Takes a new worker as often as was asked for; what is asked meanwhile is one more. */
async function upgrade() {
  if (isUpgrading || serving === null) return;
  isUpgrading = true;
  while (running.answered < running.asked && !isStopping) {
    const { asked } = running;
    const { outcome, sentence } = await takeNewWorker(serving);
    Object.assign(running, { answered: asked, outcome, sentence });
    tell();
  }
  isUpgrading = false;
}

/**
 * @param {Page} before
 * @returns {Promise<Pick<import('./running-page.js').Running, 'outcome' | 'sentence'>>}
 */
async function takeNewWorker(before) {
  const next = startPage(['--beside']);
  const patience = setTimeout(() => next.worker.process.kill('SIGKILL'), READY_WITHIN_MS);
  const start = await next.started;
  clearTimeout(patience);
  if (start.type === 'ended')
    return { outcome: 'refused', sentence: start.why || 'It ended before it was ready; the log says why.' };
  if (start.health && start.health.status !== 200 && (await healthOf(before)).status === 200) {
    stopPage(next, 'SIGTERM');
    await next.ended;
    return { outcome: 'refused', sentence: `It started, but is not healthy: ${start.health.sentence}` };
  }
  serving = next;
  stopPage(before, 'SIGTERM');
  const code = await before.ended;
  return {
    outcome: 'taken',
    sentence: code === 0 ? '' : 'What the process before had still in hand after 15 s was cut off.',
  };
}

/**
 * @param {Page} page
 * @returns {Promise<Health>}
 */
function healthOf({ worker, ended }) {
  /** @type {Promise<Health>} */
  const answer = new Promise((resolve) => {
    worker.on('message', (/** @type {{ type?: unknown, health: Health }} */ message) => {
      if (message.type === 'health') resolve(message.health);
    });
  });
  worker.send({ type: 'health' });
  return Promise.race([answer, ended.then(() => ({ status: 503, sentence: 'It has ended.' }))]);
}

/** For `npm run restart`. */
function tell() {
  try {
    writeRunning(file, running);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    complain(
      `Warning: ${file} cannot be written (${code}), so "npm run restart" will not find this page.\n`,
    );
  }
}

const first = startPage([]);
const start = await first.started;
if (start.type === 'ended') exitCode = await first.ended;
if (start.type === 'ended' || isStopping) stop('SIGTERM');
else {
  serving = first;
  tell();
  void upgrade();
}
