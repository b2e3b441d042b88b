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
const FAILED: LaterStages = { type: 'failed' };
const PAUSES_MS = [500, 2000];
/** As for calls (api-client.ts). A file that arrives later is still used. */
const PATIENCE_MS = 30_000;

const stages = createStore<LaterStages>(LOADING);
let loading: Promise<void> | null = null;
let attempts = 0;

export function loadLaterStages(withinMs?: number): Promise<void> {
  if (stages.get().type === 'failed') {
    stages.set(LOADING);
    loading = null;
  }
  loading ??= loadWithRetries();
  return withinMs === undefined ? loading : Promise.race([loading, wait(withinMs)]);
}

async function loadWithRetries(): Promise<void> {
  const patience = setTimeout(settle, PATIENCE_MS, FAILED);
  for (const pause of [...PAUSES_MS, null]) {
    try {
      attempts += 1;
      settle({ type: 'loaded', module: await load(attempts === 1 ? '' : `?${attempts}`) });
      break;
    } catch {
      if (pause === null) settle(FAILED);
      else await wait(pause);
    }
  }
  clearTimeout(patience);
}

function settle(result: LaterStages): void {
  if (stages.get().type !== 'loaded') stages.set(result);
}

/** @param _query becomes part of the URL (build/vite-bundles.ts), because browsers remember failed modules */
const load = (_query: string): Promise<LaterStagesModule> => import('#web/later-stages/later-stages.ts');

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export const useLaterStages = (): LaterStages =>
  useSyncExternalStore(stages.subscribe, stages.get, () => LOADING);
