// Brings the second file of the application (later.ts): what no visitor needs before the form. It is asked for as soon as
// the first file has run, long before anybody can need it, and again whenever somebody does.
import { useSyncExternalStore } from 'react';

type LaterModule = typeof import('#web/later/later.ts');

export type Later =
  | { readonly type: 'loading' }
  | { readonly type: 'failed' }
  | { readonly type: 'there'; readonly module: LaterModule };

declare global {
  /** This file's module, for the second one to take its imports from (build/build.ts). */
  var appModule: Promise<unknown> | undefined;
}

const LOADING: Later = { type: 'loading' };
/** How long to wait before it is asked for again, in milliseconds. */
const PAUSES = [500, 2000];

let state: Later = LOADING;
let asking: Promise<void> | null = null;
let failures = 0;
const listeners = new Set<() => void>();

function show(next: Later): void {
  state = next;
  for (const listener of listeners) listener();
}

/** @param _query becomes part of the address (build/build.ts): browsers remember that a module failed to load */
const load = (_query: string): Promise<LaterModule> => import('#web/later/later.ts');

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

async function ask(): Promise<void> {
  for (const pause of [...PAUSES, null]) {
    try {
      show({ type: 'there', module: await load(failures === 0 ? '' : `?${failures}`) });
      return;
    } catch {
      failures += 1;
      if (pause !== null) await wait(pause);
    }
  }
  show({ type: 'failed' });
}

/**
 * Asks for the second file, if it is neither there nor on its way.
 * @returns once it is there, or has failed for now
 */
export function askForLater(): Promise<void> {
  if (state.type === 'failed') show(LOADING);
  asking ??= ask().finally(() => {
    if (state.type === 'failed') asking = null;
  });
  return asking;
}

/** Whether the second file is there, and what it holds. */
export function useLater(): Later {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
    () => LOADING,
  );
}
