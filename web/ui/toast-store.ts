import {
  toastReducer,
  TOAST_REMOVE_DELAY_MS,
  type ToastAction,
  type ToastContent,
  type ToastState,
} from '#web/ui/toast-state.ts';

export type ToastStore = {
  readonly subscribe: (listener: () => void) => () => void;
  readonly getState: () => ToastState;
  /** Replaces any other toast. Returns the ID. */
  readonly add: (toast: ToastContent) => string;
  readonly update: (id: string, changes: Partial<ToastContent>) => void;
  readonly dismiss: (id: string) => void;
};

export function createToastStore(): ToastStore {
  let state: ToastState = [];
  let lastId = 0;
  const listeners = new Set<() => void>();
  const removals = new Map<string, ReturnType<typeof setTimeout>>();

  const dispatch = (action: ToastAction) => {
    state = toastReducer(state, action);
    for (const [id, timer] of removals) {
      if (state.some((toast) => toast.id === id)) continue;
      clearTimeout(timer);
      removals.delete(id);
    }
    for (const listener of listeners) listener();
  };

  return {
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    getState: () => state,
    add: (toast) => {
      lastId += 1;
      const id = String(lastId);
      dispatch({ type: 'add', toast: { ...toast, id } });
      return id;
    },
    update: (id, changes) => dispatch({ type: 'update', id, changes }),
    dismiss: (id) => {
      if (!state.some((toast) => toast.id === id && toast.open)) return;
      removals.set(
        id,
        setTimeout(() => dispatch({ type: 'remove', id }), TOAST_REMOVE_DELAY_MS),
      );
      dispatch({ type: 'dismiss', id });
    },
  };
}
