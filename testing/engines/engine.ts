// Key presses and pointer moves are real browser input, not script events.
import { until } from '#testing/until.ts';

export type EngineName = 'chromium' | 'firefox' | 'webkit';

export type Role = 'button' | 'checkbox' | 'heading' | 'link' | 'searchbox' | 'textbox';

export type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

/** A page in a new browser profile without cookies or stored values. */
export type EnginePage = {
  readonly open: (url: string) => Promise<unknown>;
  readonly reload: () => Promise<unknown>;
  readonly click: (role: Role, name: string) => Promise<void>;
  /** Waits for the element. Pixels from the viewport's upper left corner. */
  readonly box: (role: Role, name: string) => Promise<Box>;
  readonly type: (text: string) => Promise<void>;
  /** A key as in KeyboardEvent.key, or a combination: `Control+v`. */
  readonly press: (keys: string) => Promise<void>;
  /** Runs a function in the page; it sees only its argument. */
  readonly evaluate: <Result, Argument = undefined>(
    run: (argument: Argument) => Result,
    ...argument: Argument extends undefined ? [] : [Argument]
  ) => Promise<Result>;
  readonly resize: (width: number, height: number) => Promise<void>;
  /** Console errors and uncaught errors. WebDriver misses errors during loading. */
  readonly pageErrors: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
};

export type Engine = {
  readonly name: EngineName;
  readonly version: string;
  readonly newPage: () => Promise<EnginePage>;
  readonly close: () => Promise<void>;
};

/** Selects the elements that may have the role. */
export const SELECTORS: Readonly<Record<Role, string>> = {
  button: 'button',
  checkbox: 'input[type=checkbox]',
  heading: 'h1, h2, h3',
  link: 'a[href]',
  searchbox: 'input[type=search]',
  textbox: 'input:not([type=checkbox], [type=search])',
};

/** Runs in the page. Narrows the search, because computing the accessible name of every element takes half a second. */
export function candidates(selector: string, name: string): HTMLElement[] {
  const words = (element: HTMLElement) =>
    [
      element.ariaLabel,
      element.innerText,
      ...Array.from((element as HTMLInputElement).labels ?? [], (label) => label.innerText),
    ].join(' ');
  return Array.from(document.querySelectorAll<HTMLElement>(selector)).filter(
    (element) => element.checkVisibility() && words(element).includes(name),
  );
}

export const VIEWPORT = { width: 1280, height: 800 };

/** Runs in the page before a press, which misses an element that moves or is covered for a moment. */
export function noteMiss(target: Element): void {
  const isTarget = (node: EventTarget) =>
    node === target || (node instanceof HTMLLabelElement && node.control === target);
  Object.assign(window, { wasMissed: false });
  addEventListener(
    'pointerdown',
    (event) => Object.assign(window, { wasMissed: !event.composedPath().some(isTarget) }),
    { capture: true, once: true },
  );
}

export const wasHit = (): boolean => (window as { readonly wasMissed?: boolean }).wasMissed !== true;

export async function findSoon<Found>(
  role: Role,
  name: string,
  findNow: () => Promise<Found | undefined>,
): Promise<Found> {
  let found: Found | undefined;
  await until(async () => (found = await findNow()) !== undefined).catch((error: unknown) => {
    throw new Error(`Found no ${role} "${name}".`, { cause: error });
  });
  return found!;
}

export async function waitFor<Argument>(
  page: EnginePage,
  sentence: string,
  holds: (argument: Argument) => boolean,
  argument?: Argument,
): Promise<void> {
  try {
    await until(() => page.evaluate<boolean, unknown>(holds as (argument: unknown) => boolean, argument));
  } catch (error) {
    const words = await page.evaluate(() => document.body.innerText);
    throw new Error(`Timed out waiting until ${sentence}. The page says:\n${words}`, { cause: error });
  }
}

export const sees = (page: EnginePage, words: string): Promise<void> =>
  waitFor(
    page,
    `the page says "${words}"`,
    (text) => document.body.innerText.replaceAll(/\s+/g, ' ').includes(text),
    words,
  );
