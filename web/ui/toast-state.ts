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
