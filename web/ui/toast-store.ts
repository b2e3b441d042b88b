export type ToastContent = {
  readonly title: string;
  readonly description: string;
  /** Shown muted before the description, such as "400: ". */
  readonly prefix?: string;
  readonly variant?: 'default' | 'destructive';
  /** The focused element already reads the description aloud, so the toast announces only its title. */
  readonly spokenThere?: boolean;
};

export type Toast = ToastContent & {
  readonly id: string;
  /** False once dismissed; the toast stays in the state until removed. */
  readonly open: boolean;
};

export type ToastState = readonly Toast[];

export type ToastAction =
  | { readonly type: 'add'; readonly toast: ToastContent & { readonly id: string } }
  | { readonly type: 'update'; readonly id: string; readonly changes: Partial<ToastContent> }
  | { readonly type: 'dismiss'; readonly id: string }
  | { readonly type: 'remove'; readonly id: string };

/** Specification, section 9. */
const TOAST_LIMIT = 1;
/** Specification, section 9. */
export const TOAST_REMOVE_DELAY_MS = 1_000_000;

export function toastReducer(state: ToastState, action: ToastAction): ToastState {
  switch (action.type) {
    case 'add':
      return [{ ...action.toast, open: true }, ...state].slice(0, TOAST_LIMIT);
    case 'update':
      return state.map((toast) => (toast.id === action.id ? { ...toast, ...action.changes } : toast));
    case 'dismiss':
      return state.map((toast) => (toast.id === action.id ? { ...toast, open: false } : toast));
    case 'remove':
      return state.filter((toast) => toast.id !== action.id);
  }
}

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
