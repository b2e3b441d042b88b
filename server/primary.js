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

import { bornAt, removeRunning, runningFile, writeRunning } from './restart/running-page.js';

/** @typedef {{ readonly status: number, readonly sentence: string }} Health */
/** @typedef {{ readonly type: 'ready', readonly health?: Health, readonly warnings?: readonly string[] } | { readonly type: 'ended', readonly why: string }} Start */
/** @typedef {Start & { readonly type: 'ready' } | { readonly type: 'alive' } | { readonly type: 'health', readonly health: Health } | { readonly type: 'mail tried', readonly warning: string | null }} FromWorker */
/**
 * @typedef {object} Page
 * @property {import('node:cluster').Worker} worker
 * @property {Promise<Start>} started
 * @property {Promise<string | null>} mailTried why its mail account cannot be used; null when it can
 * @property {Promise<number>} ended its code
 * @property {boolean} isReady
 * @property {NodeJS.Timeout | null} deadline by when it has to have ended
 * @property {string} lastWord why it was killed; empty if it was not
 */

/** A large database takes its time to be brought up to date. */
const READY_WITHIN_MS = 600_000;
/** A worker that is told to stop gives itself 15 s (main.ts). One that does not run any more is killed after this. */
const END_WITHIN_MS = 17_000;
/** Nobody waits for longer to be told how a worker is. */
const ANSWER_WITHIN_MS = 5_000;
/** How long a restart waits for the mail account to be tried, which gives up after 10 s (mail/mailer.ts). */
const MAIL_TRIED_WITHIN_MS = 12_000;
const LAST_WORDS_LENGTH = 4_000;
const MOST_UNREAD_BYTES = 1024 * 1024;

// Each worker accepts by itself. Otherwise every connection would pass through here, and what has no worker yet would be lost.
cluster.schedulingPolicy = cluster.SCHED_NONE;
// Its complaints are passed on, and told to whoever asked for the restart.
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
  /** @type {(warning: string | null) => void} */
  let tellMailTried = () => {};
  /** @type {(code: number) => void} */
  let tellEnded = () => {};
  /** @type {Page} */
  const page = {
    worker,
    // An older Node, which the worker refuses with a sentence, knows no Promise.withResolvers.
    started: new Promise((resolve) => (tellStarted = resolve)),
    mailTried: new Promise((resolve) => (tellMailTried = resolve)),
    ended: new Promise((resolve) => (tellEnded = resolve)),
    isReady: false,
    deadline: null,
    lastWord: '',
  };
  pages.add(page);
  worker.on('message', (/** @type {FromWorker} */ message) => {
    if (message.type === 'ready') {
      page.isReady = true;
      tellStarted(message);
    } else if (message.type === 'mail tried') tellMailTried(message.warning);
  });
  // Not "exit": its complaints have been read by then.
  child.on('close', (code, signal) => {
    pages.delete(page);
    clearTimeout(page.deadline ?? undefined);
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
 * Has a page end: in order, or else by force.
 * @param {Page} page
 * @param {NodeJS.Signals} signal
 * @param {{ isReplaced?: boolean }} [how] isReplaced: another one serves in its place
 */
function stopPage(page, signal, { isReplaced = false } = {}) {
  const { worker, isReady } = page;
  // A worker leaves SIGINT to us: a terminal sends it to both, and npm once more.
  if (isReady) worker.send({ type: 'stop', signal, isReplaced });
  else worker.process.kill('SIGTERM');
  page.deadline ??= after(END_WITHIN_MS, () => killPage(page, 'end'));
}

/**
 * Had this process itself not run for a while, what came meanwhile is looked at first.
 * @param {number} ms
 * @param {() => void} act
 */
const after = (ms, act) => setTimeout(() => setImmediate(act), ms);

/**
 * @param {Page} page
 * @param {'end' | 'answer'} missed what it did not do
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
    const { outcome, sentence, warnings = [] } = await takeNewWorker(serving);
    Object.assign(running, { answered: asked, outcome, sentence, warnings });
    tell();
  }
  isUpgrading = false;
}

/**
 * @param {Page} before
 * @returns {Promise<Partial<import('./restart/running-page.js').Running>>} what is to be told of it
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
  // A worker of an earlier release, to which the files went back, does not tell.
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
 * A process that does not run any more may hold what the next one waits for, such as the lock of the database.
 * @param {Page} before
 * @param {Page} next
 */
async function makeWay(before, next) {
  const sign = await Promise.race([ask(before, 'alive', END_WITHIN_MS), next.started]);
  if (sign !== null || isStopping || !pages.has(before)) return;
  // From here it is the next one that must not end.
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
 * @param {Late} late what is given if it takes longer
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

/** For `npm run restart`. */
function tell() {
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
  tell();
  void upgrade();
}
