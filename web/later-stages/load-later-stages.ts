// Loads the second file after the first has run. After an error, loads it again when a stage needs it.
import { useSyncExternalStore } from 'react';

type LaterStagesModule = typeof import('#web/later-stages/later-stages.ts');

export type LaterStages =
  | { readonly type: 'loading' }
  | { readonly type: 'failed' }
  | { readonly type: 'loaded'; readonly module: LaterStagesModule };

declare global {
  var appModule: Promise<unknown> | undefined;
}

const LOADING: LaterStages = { type: 'loading' };
const PAUSES_MS = [500, 2000];

let state: LaterStages = LOADING;
let asking: Promise<void> | null = null;
let failures = 0;
const listeners = new Set<() => void>();

function show(next: LaterStages): void {
  state = next;
  for (const listener of listeners) listener();
}

/** @param _query becomes part of the URL (build/vite-bundles.ts), because browsers remember failed modules */
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

export function loadLaterStages(withinMs?: number): Promise<void> {
  if (state.type === 'failed') show(LOADING);
  asking ??= ask().finally(() => {
    if (state.type === 'failed') asking = null;
  });
  return withinMs === undefined ? asking : Promise.race([asking, wait(withinMs)]);
}

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
