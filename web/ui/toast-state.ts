// Which toasts there are: a plain reducer. Timers and React are elsewhere (toast-store.ts, toaster.tsx).

export type ToastContent = {
  readonly title: string;
  readonly description: string;
  /** A part before the description, set in a muted tone, such as "400: ". */
  readonly prefix?: string;
  readonly variant?: 'default' | 'destructive';
  /** The description also stands beside what has the focus and is read out there: the toast speaks its title alone. */
  readonly spokenThere?: boolean;
};

export type Toast = ToastContent & {
  readonly id: string;
  /** False once dismissed: the toast is on its way out, and stays in the state until removed. */
  readonly open: boolean;
};

export type ToastState = readonly Toast[];

export type ToastAction =
  | { readonly type: 'add'; readonly toast: ToastContent & { readonly id: string } }
  | { readonly type: 'update'; readonly id: string; readonly changes: Partial<ToastContent> }
  | { readonly type: 'dismiss'; readonly id: string }
  | { readonly type: 'remove'; readonly id: string };

/** Specification, section 9: at most one toast is visible at a time. */
const TOAST_LIMIT = 1;
/** Specification, section 9: how long a dismissed toast stays in the state. */
export const TOAST_REMOVE_DELAY_MS = 1_000_000;

/** The next state. The newest toast comes first; a new one takes the place of the old. */
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
