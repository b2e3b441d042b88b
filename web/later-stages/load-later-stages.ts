// Loads the second file of the application (later-stages.ts): as soon as the first file has run, long before a visitor can need
// it, and again when a stage needs it and loading has failed.
import { useSyncExternalStore } from 'react';

type LaterStagesModule = typeof import('#web/later-stages/later-stages.ts');

export type LaterStages =
  | { readonly type: 'loading' }
  | { readonly type: 'failed' }
  | { readonly type: 'loaded'; readonly module: LaterStagesModule };

declare global {
  /** The module of the first file as the boot script loaded it, from which the second one takes its imports (build/build.ts). */
  var appModule: Promise<unknown> | undefined;
}

const LOADING: LaterStages = { type: 'loading' };
/** Pauses before each further try. */
const PAUSES_MS = [500, 2000];

let state: LaterStages = LOADING;
let asking: Promise<void> | null = null;
let failures = 0;
const listeners = new Set<() => void>();

function show(next: LaterStages): void {
  state = next;
  for (const listener of listeners) listener();
}

/** @param _query becomes part of the address (build/build.ts), because browsers remember that a module failed to load */
const load = (_query: string): Promise<LaterStagesModule> => import('#web/later-stages/later-stages.ts');

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

async function ask(): Promise<void> {
  for (const pause of [...PAUSES_MS, null]) {
    try {
      show({ type: 'loaded', module: await load(failures === 0 ? '' : `?${failures}`) });
      return;
    } catch {
      failures += 1;
      if (pause !== null) await wait(pause);
    }
  }
  show({ type: 'failed' });
}

/**
 * Loads the second file, unless it has loaded or is loading.
 * @param withinMs how long the caller waits for it, in milliseconds; without it, to the end
 * @returns once it has loaded, or every try has failed, or the caller has waited long enough
 */
export function loadLaterStages(withinMs?: number): Promise<void> {
  if (state.type === 'failed') show(LOADING);
  asking ??= ask().finally(() => {
    if (state.type === 'failed') asking = null;
  });
  return withinMs === undefined ? asking : Promise.race([asking, wait(withinMs)]);
}

/** The state of the second file, and its module once it has loaded. */
export function useLaterStages(): LaterStages {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
    () => LOADING,
  );
}
