// The process of `npm start`. It keeps the ports open and serves no request; its worker (start.js) accepts connections itself.
// On SIGHUP it starts another worker from the files as they are now; once that one serves, the old worker finishes its requests and
// ends. The sockets stay open all the while, so no visitor is refused. SIGTERM and SIGINT end both. Plain JavaScript without a
// package, because it lives as long as the page does (docs/decisions/0025-the-port-is-kept.md).
import cluster from 'node:cluster';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { bornAt, removeRunning, runningFile, writeRunning } from './restart/running-page.js';
import { SERVING_FLAGS } from './restart/serving-flags.js';

/** @typedef {{ readonly status: number, readonly sentence: string }} Health */
/** @typedef {{ readonly type: 'ready', readonly health?: Health, readonly warnings?: readonly string[] } | { readonly type: 'ended', readonly why: string }} Start */
/** @typedef {Start & { readonly type: 'ready' } | { readonly type: 'alive' } | { readonly type: 'health', readonly health: Health } | { readonly type: 'mail tried', readonly warning: string | null }} FromWorker */
/**
 * @typedef {object} Page
 * @property {import('node:cluster').Worker} worker
 * @property {Promise<Start>} started
 * @property {Promise<string | null>} mailTried why its mail account cannot be used; null when it can
 * @property {Promise<number>} ended its exit code
 * @property {boolean} isReady
 * @property {NodeJS.Timeout | null} deadline after which it is killed
 * @property {string} lastWord why it was killed; empty if it was not
 */

/** Long, because the migration of a large database takes long. */
const READY_WITHIN_MS = 600_000;
/** A worker that is asked to stop takes at most 15 s (main.ts). One that hangs is killed after this. */
const END_WITHIN_MS = 17_000;
/** Wait for a worker's answer about its health. */
const ANSWER_WITHIN_MS = 5_000;
/** How long a restart waits for the mail account to be tried, which gives up after 10 s (mail/mailer.ts). */
const MAIL_TRIED_WITHIN_MS = 12_000;
const LAST_WORDS_LENGTH = 4_000;
const MOST_UNREAD_BYTES = 1024 * 1024;

// Each worker accepts connections itself. Otherwise each would pass through here, and those without a worker yet would be lost.
cluster.schedulingPolicy = cluster.SCHED_NONE;
// Standard error is a pipe: it is passed on, and its end becomes the answer to `npm run restart`.
const stdio = ['inherit', 'inherit', 'pipe', 'ipc'];
const exec = path.join(import.meta.dirname, 'start.js');

const file = runningFile();
/** @type {import('./restart/running-page.js').Running} */
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
  warnings: [],
};

/** @type {Set<Page>} */
const pages = new Set();
/** The page that serves. @type {Page | null} */
let serving = null;
let isStopping = false;
let isUpgrading = false;
let interrupts = 0;
/** The exit code of this process. */
let exitCode = 0;

// A full disk, or a reader that has gone, must not end this process.
process.stderr.on('error', () => {});

/** @param {Buffer | string} text */
function complain(text) {
  // A reader that stopped reading must not fill our memory.
  if (process.stderr.writableLength < MOST_UNREAD_BYTES) process.stderr.write(text);
}

/**
 * @param {readonly string[]} args
 * @returns {Page}
 */
function startPage(args) {
  cluster.setupPrimary({ exec, args: [...args], execArgv: SERVING_FLAGS, stdio });
  const worker = cluster.fork();
  const child = worker.process;
  let lastWords = '';
  child.stderr?.on('data', (/** @type {Buffer} */ chunk) => {
    complain(chunk);
    lastWords = `${lastWords}${String(chunk)}`.slice(-LAST_WORDS_LENGTH);
  });
  // The program is missing, or the worker ended while a message was sent to it. "close" below reports its end; without this listener
  // the error would end this process.
  worker.on('error', (/** @type {NodeJS.ErrnoException} */ { code, syscall, path: program }) => {
    if (syscall?.startsWith('spawn'))
      lastWords += `${program} cannot be run (${code}). Run "npm ci" in the folder of the project, and try again.`;
  });
  /** @type {(start: Start) => void} */
  let resolveStarted = () => {};
  /** @type {(warning: string | null) => void} */
  let resolveMailTried = () => {};
  /** @type {(code: number) => void} */
  let resolveEnded = () => {};
  /** @type {Page} */
  const page = {
    worker,
    // Not Promise.withResolvers: an older Node lacks it, and the worker refuses that Node with a sentence.
    started: new Promise((resolve) => (resolveStarted = resolve)),
    mailTried: new Promise((resolve) => (resolveMailTried = resolve)),
    ended: new Promise((resolve) => (resolveEnded = resolve)),
    isReady: false,
    deadline: null,
    lastWord: '',
  };
  pages.add(page);
  worker.on('message', (/** @type {FromWorker} */ message) => {
    if (message.type === 'ready') {
      page.isReady = true;
      resolveStarted(message);
    } else if (message.type === 'mail tried') resolveMailTried(message.warning);
  });
  // Not "exit": its standard error has been read only at "close".
  child.on('close', (code, signal) => {
    pages.delete(page);
    clearTimeout(page.deadline ?? undefined);
    resolveStarted({ type: 'ended', why: lastWords });
    const number = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
    resolveEnded(number);
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
    // systemd or a container starts this process again, so it must end with its worker.
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
 * Ends a page: in order, or else by force.
 * @param {Page} page
 * @param {NodeJS.Signals} signal
 * @param {{ isReplaced?: boolean }} [how] isReplaced: another one serves in its place
 */
function stopPage(page, signal, { isReplaced = false } = {}) {
  const { worker, isReady } = page;
  // A worker ignores SIGINT, which a terminal sends to both of us, and npm once more.
  if (isReady) worker.send({ type: 'stop', signal, isReplaced });
  else worker.process.kill('SIGTERM');
  page.deadline ??= after(END_WITHIN_MS, () => killPage(page, 'end'));
}

/**
 * A timeout that, if this process itself was suspended, lets events that came meanwhile be handled first.
 * @param {number} ms
 * @param {() => void} act
 */
const after = (ms, act) => setTimeout(() => setImmediate(act), ms);

/**
 * @param {Page} page
 * @param {'end' | 'answer'} missed what it failed to do
 */
function killPage(page, missed) {
  if (!pages.has(page)) return;
  const { worker } = page;
  page.lastWord = `The process ${worker.process.pid} did not ${missed} within ${END_WITHIN_MS / 1000} seconds and was killed: what it had in hand was cut off.`;
  complain(`${page.lastWord}\n`);
  worker.process.kill('SIGKILL');
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
  // npm passes on each Ctrl-C, which the terminal has already sent here: only the third signal is a second Ctrl-C.
  if (interrupts >= 3) {
    for (const { worker } of pages) worker.process.kill('SIGKILL');
    end(130);
  }
  stop(signal);
});
process.on('SIGHUP', () => {
  running.asked += 1;
  writeState();
  void upgrade();
});

/** Takes a new worker for the requests so far; requests that come meanwhile share one more. */
async function upgrade() {
  if (isUpgrading || serving === null) return;
  isUpgrading = true;
  while (running.answered < running.asked && !isStopping) {
    const { asked } = running;
    const { outcome, sentence, warnings = [] } = await takeNewWorker(serving);
    Object.assign(running, { answered: asked, outcome, sentence, warnings });
    writeState();
  }
  isUpgrading = false;
}

/**
 * @param {Page} before
 * @returns {Promise<Partial<import('./restart/running-page.js').Running>>} the outcome, for `npm run restart`
 */
async function takeNewWorker(before) {
  const next = startPage(['--beside']);
  const patience = setTimeout(() => next.worker.process.kill('SIGKILL'), READY_WITHIN_MS);
  void makeWay(before, next);
  const start = await next.started;
  clearTimeout(patience);
  if (start.type === 'ended') {
    const sentence = (start.why || 'It ended before it was ready; the log says why.').trimEnd();
    const isAlive = (await ask(before, 'alive')) !== null;
    return { outcome: 'refused', sentence: isAlive ? sentence : `${sentence}\n${sayDead(before)}` };
  }
  if (start.health && start.health.status !== 200 && (await healthOf(before))?.status === 200) {
    stopPage(next, 'SIGTERM');
    await next.ended;
    return { outcome: 'refused', sentence: `It started, but is not healthy: ${start.health.sentence}` };
  }
  serving = next;
  if (pages.has(before)) stopPage(before, 'SIGTERM', { isReplaced: true });
  // If the files went back to an earlier release, its worker does not report it.
  const mailTried = start.warnings && within(MAIL_TRIED_WITHIN_MS, next.mailTried, MAIL_UNKNOWN);
  const code = await before.ended;
  const mailWarning = await mailTried;
  return {
    outcome: 'taken',
    sentence:
      before.lastWord ||
      (code === 0 ? '' : 'What the process before had still in hand after 15 s was cut off.'),
    warnings: [...(start.warnings ?? []), ...(mailWarning ? [mailWarning] : [])],
  };
}

/**
 * Kills the old worker if it hangs: it may hold the lock of the database, for which the new one waits.
 * @param {Page} before
 * @param {Page} next
 */
async function makeWay(before, next) {
  const sign = await Promise.race([ask(before, 'alive', END_WITHIN_MS), next.started]);
  if (sign !== null || isStopping || !pages.has(before)) return;
  // From here on, the end of the next one is the end of the page.
  serving = next;
  killPage(before, 'answer');
}

const MAIL_UNKNOWN = 'The mail account has not answered yet; the log will say whether it can be used.';

/** @param {Page} page */
const sayDead = ({ worker }) =>
  `But the process that was to go on serving (${worker.process.pid}) does not answer. Stop the page, and start it again with "npm start".`;

/**
 * @param {Page} page
 * @returns {Promise<Health | null>} null when it does not answer, or has ended
 */
async function healthOf(page) {
  const answer = await ask(page, 'health');
  return answer?.type === 'health' ? answer.health : null;
}

/**
 * @param {Page} page
 * @param {'alive' | 'health'} type
 * @param {number} [ms]
 * @returns {Promise<FromWorker | null>} null when it does not answer, or has ended
 */
async function ask({ worker, ended }, type, ms = ANSWER_WITHIN_MS) {
  /** @type {(message: FromWorker) => void} */
  let listen = () => {};
  /** @type {Promise<FromWorker>} */
  const answer = new Promise((resolve) => {
    listen = (message) => {
      // An earlier release answers both questions with its health.
      if (message.type === type || message.type === 'health') resolve(message);
    };
  });
  worker.on('message', listen);
  worker.send({ type });
  const first = await within(ms, Promise.race([answer, ended.then(() => null)]), null);
  worker.off('message', listen);
  return first;
}

/**
 * @template Result, Late
 * @param {number} ms
 * @param {Promise<Result>} promise
 * @param {Late} late the result if it takes longer
 * @returns {Promise<Result | Late>}
 */
async function within(ms, promise, late) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @type {Promise<Late>} */
  const timeout = new Promise((resolve) => {
    timer = after(ms, () => resolve(late));
  });
  const result = await Promise.race([promise, timeout]);
  clearTimeout(timer);
  return result;
}

/** Writes the state for `npm run restart`. */
function writeState() {
  try {
    writeRunning(file, running);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    complain(`Warning: ${file} cannot be written (${code}), so "npm run restart" will not find this page.\n`);
  }
}

const first = startPage([]);
const start = await first.started;
if (start.type === 'ended') exitCode = await first.ended;
if (start.type === 'ended' || isStopping) stop('SIGTERM');
else {
  serving = first;
  writeState();
  void upgrade();
}
