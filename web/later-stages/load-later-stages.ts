// Loads the second file after the first has run. After an error, loads it again when a stage needs it.
import { useSyncExternalStore } from 'react';

import { createStore } from '#web/ui/store.ts';

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

const stages = createStore<LaterStages>(LOADING);
let asking: Promise<void> | null = null;
let failures = 0;

/** @param _query becomes part of the URL (build/vite-bundles.ts), because browsers remember failed modules */
const load = (_query: string): Promise<LaterStagesModule> => import('#web/later-stages/later-stages.ts');

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

async function ask(): Promise<void> {
  for (const pause of [...PAUSES_MS, null]) {
    try {
      stages.set({ type: 'loaded', module: await load(failures === 0 ? '' : `?${failures}`) });
      return;
    } catch {
      failures += 1;
      if (pause !== null) await wait(pause);
    }
  }
  stages.set({ type: 'failed' });
}

export function loadLaterStages(withinMs?: number): Promise<void> {
  if (stages.get().type === 'failed') stages.set(LOADING);
  asking ??= ask().finally(() => {
    if (stages.get().type === 'failed') asking = null;
  });
  return withinMs === undefined ? asking : Promise.race([asking, wait(withinMs)]);
}

export const useLaterStages = (): LaterStages =>
  useSyncExternalStore(stages.subscribe, stages.get, () => LOADING);
