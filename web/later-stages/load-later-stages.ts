// Loads the second file once the first has run, and again after an error when a stage needs it.
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
let loading: Promise<void> | null = null;
let failures = 0;

export function loadLaterStages(withinMs?: number): Promise<void> {
  if (stages.get().type === 'failed') stages.set(LOADING);
  loading ??= loadWithRetries().finally(() => {
    if (stages.get().type === 'failed') loading = null;
  });
  return withinMs === undefined ? loading : Promise.race([loading, wait(withinMs)]);
}

async function loadWithRetries(): Promise<void> {
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

/** @param _query becomes part of the URL (build/vite-bundles.ts), because browsers remember failed modules */
const load = (_query: string): Promise<LaterStagesModule> => import('#web/later-stages/later-stages.ts');

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export const useLaterStages = (): LaterStages =>
  useSyncExternalStore(stages.subscribe, stages.get, () => LOADING);
