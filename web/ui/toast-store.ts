import { createStore, type Store } from '#web/ui/store.ts';

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

export type ToastStore = Pick<Store<readonly Toast[]>, 'get' | 'subscribe'> & {
  /** Replaces any other toast. Returns the ID. */
  readonly add: (toast: ToastContent) => string;
  readonly update: (id: string, changes: Partial<ToastContent>) => void;
  readonly dismiss: (id: string) => void;
};

/** Specification, section 9. */
const TOAST_LIMIT = 1;
/** Specification, section 9. */
export const TOAST_REMOVE_DELAY_MS = 1_000_000;

export function createToastStore(): ToastStore {
  const { get, set, subscribe } = createStore<readonly Toast[]>([]);
  let lastId = 0;
  const change = (id: string, changes: Partial<Toast>) =>
    set(get().map((toast) => (toast.id === id ? { ...toast, ...changes } : toast)));

  return {
    get,
    subscribe,
    add: (content) => {
      lastId += 1;
      const id = String(lastId);
      set([{ ...content, id, open: true }, ...get()].slice(0, TOAST_LIMIT));
      return id;
    },
    update: change,
    dismiss: (id) => {
      if (!get().some((toast) => toast.id === id && toast.open)) return;
      change(id, { open: false });
      setTimeout(() => set(get().filter((toast) => toast.id !== id)), TOAST_REMOVE_DELAY_MS);
    },
  };
}

/** The toasts of the page. */
export const toasts = createToastStore();
