// What a test needs of a browser, so that it is written once and runs in every engine. Each file beside this one gives
// it for one way of driving a browser. Keys and pointer are the browser's own input, never events made by a script.
import { until } from '#testing/until.ts';

export type EngineName = 'chromium' | 'firefox' | 'webkit';

/** Something on the page, as a person finds it: by its role and name. */
export type Role = 'button' | 'checkbox' | 'heading' | 'link' | 'searchbox' | 'textbox';

type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

/** One page in a new browser profile: no cookie and no stored value of another page is in it. */
export type EnginePage = {
  readonly open: (url: string) => Promise<void>;
  readonly reload: () => Promise<void>;
  /** Waits until it is there, brings it into view and presses its middle with the pointer. */
  readonly click: (role: Role, name: string) => Promise<void>;
  /** Waits until it is there. Pixels from the viewport's upper left corner. */
  readonly box: (role: Role, name: string) => Promise<Box>;
  /** Types into the element that has the focus, key by key. */
  readonly type: (text: string) => Promise<void>;
  /** Presses one key, named as in KeyboardEvent.key, or several at once: `Control+v`. */
  readonly press: (keys: string) => Promise<void>;
  /** Runs a function in the page. It sees nothing but its argument. */
  readonly evaluate: <Result, Argument = undefined>(
    run: (argument: Argument) => Result,
    ...argument: Argument extends undefined ? [] : [Argument]
  ) => Promise<Result>;
  /** Sets the viewport, in CSS pixels. */
  readonly resize: (width: number, height: number) => Promise<void>;
  /** Writes a PNG; of the whole page, or of what is in the viewport. */
  readonly screenshot: (file: string, fullPage?: boolean) => Promise<void>;
  /** What the page wrote to the console as an error, and what it threw. (WebDriver cannot tell it of the time of loading.) */
  readonly complaints: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
};

export type Engine = {
  readonly name: EngineName;
  /** As the browser calls itself, with its version. */
  readonly version: string;
  readonly newPage: () => Promise<EnginePage>;
  readonly close: () => Promise<void>;
};

/** Waits until a function, run in the page, returns what is true. Throws, with the sentence, when it never does. */
export async function waitFor<Argument>(
  page: EnginePage,
  sentence: string,
  holds: (argument: Argument) => boolean,
  argument: Argument,
): Promise<void> {
  try {
    await until(() => page.evaluate<boolean, unknown>(holds as (argument: unknown) => boolean, argument));
  } catch (error) {
    const words = await page.evaluate(() => document.body.innerText);
    throw new Error(`This did not come to be: ${sentence}. The page says:\n${words}`, { cause: error });
  }
}

/** Waits until the page shows these words, whatever white space is between them. */
export const sees = (page: EnginePage, words: string): Promise<void> =>
  waitFor(
    page,
    `the page says "${words}"`,
    (wanted) => document.body.innerText.replaceAll(/\s+/g, ' ').includes(wanted),
    words,
  );
