// WebKitGTK's MiniBrowser has no headless mode, so it runs on a virtual screen, over WebDriver.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Builder, Capabilities, Key, type WebDriver, type WebElement } from 'selenium-webdriver';

import {
  candidates,
  findSoon,
  noteMiss,
  SELECTORS,
  VIEWPORT,
  wasHit,
  type Engine,
  type EnginePage,
  type Role,
} from '#testing/engines/engine.ts';
import { freePort } from '#testing/free-port.ts';
import { endProcess } from '#testing/start-program.ts';
import { isServed, until } from '#testing/until.ts';

const SCREEN = '2000x12000x24';
/** Otherwise the window's buttons keep it at least 447 pixels wide. */
const NARROW_BUTTONS = 'window * { min-width: 0; padding: 0; }';

/** On a busy machine, the browser sometimes misses its driver, which then waits forever. */
const BROWSER_START_MS = 15_000;
const MAX_ATTEMPTS = 2;

export type WebkitPrograms = {
  readonly driver: string;
  readonly browser: string;
  readonly screen: string;
};

/** WebDriver has no profiles, so each page is a new browser. */
export async function startWebkit(programs: WebkitPrograms): Promise<Engine> {
  const screen = spawn(programs.screen, ['-displayfd', '3', '-screen', '0', SCREEN, '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const [display] = (await once(screen.stdio[3]!, 'data')) as [Buffer];
  const home = mkdtempSync(path.join(os.tmpdir(), 'lead-page-webkit-'));
  mkdirSync(path.join(home, 'gtk-3.0'));
  writeFileSync(path.join(home, 'gtk-3.0', 'gtk.css'), NARROW_BUTTONS);
  const env = {
    ...process.env,
    DISPLAY: `:${display.toString().trim()}`,
    // The sandbox needs rights that containers lack. Only the page under test is opened.
    WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
    NO_AT_BRIDGE: '1',
    HOME: home,
    XDG_CONFIG_HOME: home,
  };
  let webdriver = await startDriver(programs.driver, env);

  const startBrowser = async (): Promise<WebDriver> => {
    for (let attempts = 1; ; attempts += 1) {
      const starting = new Builder()
        .usingServer(webdriver.url)
        .withCapabilities(
          new Capabilities({
            browserName: 'MiniBrowser',
            'webkitgtk:browserOptions': { binary: programs.browser, args: ['--automation'] },
          }),
        )
        .build();
      const driver = await Promise.race([starting, sleep(BROWSER_START_MS, null, { ref: false })]);
      if (driver !== null) return driver;
      if (attempts === MAX_ATTEMPTS)
        throw new Error(`WebKit did not start in ${attempts} × ${BROWSER_START_MS} ms.`);
      await endProcess(webdriver.process);
      webdriver = await startDriver(programs.driver, env);
    }
  };

  let version = '';
  const newPage = async (): Promise<EnginePage> => {
    const driver = await startBrowser();
    version = `WebKitGTK ${(await driver.getCapabilities()).get('browserVersion') as string}`;
    const pageErrors: string[] = [];
    const keepErrors = async () => {
      pageErrors.push(...(await driver.executeScript<string[]>(TAKE_ERRORS)));
    };
    await resize(driver, VIEWPORT.width, VIEWPORT.height);
    return {
      open: async (url) => {
        await keepErrors();
        await driver.get(url);
        await driver.executeScript(RECORD_ERRORS);
      },
      reload: async () => {
        await keepErrors();
        await driver.navigate().refresh();
        await driver.executeScript(RECORD_ERRORS);
      },
      click: async (role, name) => {
        const element = await find(driver, role, name);
        await driver.executeScript(
          'arguments[0].scrollIntoView({ block: "center", behavior: "instant" })',
          element,
        );
        const press = async () => {
          await driver.executeScript(`(${noteMiss.toString()})(arguments[0])`, element);
          await driver.actions().move({ origin: element }).click().perform();
          return driver.executeScript<boolean>(`return (${wasHit.toString()})()`);
        };
        const missIfFading = (error: unknown) => {
          if (error instanceof Error && error.name === 'ElementNotInteractableError') return false;
          throw error;
        };
        // During a fade between stages, a person's press works, but the driver's press reaches the picture of the old stage.
        await until(() => press().catch(missIfFading));
      },
      box: async (role, name) =>
        driver.executeScript(
          'const { x, y, width, height } = arguments[0].getBoundingClientRect(); return { x, y, width, height }',
          await find(driver, role, name),
        ),
      type: (text) => driver.actions().sendKeys(text).perform(),
      press: async (keys) => {
        const pressed = keys.split('+').map((key) => NAMED_KEYS[key] ?? key);
        const actions = driver.actions();
        for (const key of pressed) actions.keyDown(key);
        for (const key of pressed.toReversed()) actions.keyUp(key);
        await actions.perform();
      },
      evaluate: (run, ...argument) =>
        driver.executeScript(`return (${run.toString()})(...arguments)`, ...argument),
      resize: (width, height) => resize(driver, width, height),
      pageErrors: async () => {
        await keepErrors();
        return pageErrors;
      },
      close: () => driver.quit(),
    };
  };
  return {
    name: 'webkit',
    get version() {
      return version;
    },
    newPage,
    close: async () => {
      await endProcess(webdriver.process);
      await endProcess(screen);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function startDriver(
  program: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly process: ChildProcess; readonly url: string }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(program, [`--port=${port}`], { stdio: 'ignore', env });
  await until(() => isServed(`${url}/status`));
  return { process: child, url };
}

const NAMED_KEYS: Readonly<Record<string, string>> = {
  ArrowLeft: Key.ARROW_LEFT,
  ArrowRight: Key.ARROW_RIGHT,
  Backspace: Key.BACK_SPACE,
  Control: Key.CONTROL,
  End: Key.END,
  Enter: Key.ENTER,
  Escape: Key.ESCAPE,
  F8: Key.F8,
  Home: Key.HOME,
  Shift: Key.SHIFT,
  Tab: Key.TAB,
};

/** WebDriver cannot read the console, so the page records its own errors. */
const RECORD_ERRORS = `
  window.recordedErrors = [];
  addEventListener('error', (event) => recordedErrors.push(event.message));
  addEventListener('unhandledrejection', (event) => recordedErrors.push(String(event.reason)));
  addEventListener('securitypolicyviolation', (event) => recordedErrors.push(event.violatedDirective + ' ' + event.blockedURI));
  const { error } = console;
  console.error = (...values) => { recordedErrors.push(values.join(' ')); error.apply(console, values); };`;
const TAKE_ERRORS = 'return (window.recordedErrors ?? []).splice(0)';

const find = (driver: WebDriver, role: Role, name: string): Promise<WebElement> =>
  findSoon(role, name, () => findNow(driver, role, name));

/** The driver fails for unrendered elements. */
async function findNow(driver: WebDriver, role: Role, name: string): Promise<WebElement | undefined> {
  try {
    const candidateElements = await driver.executeScript<WebElement[]>(
      `return (${candidates.toString()})(...arguments)`,
      SELECTORS[role],
      name,
    );
    for (const candidate of candidateElements) {
      if ((await candidate.getAccessibleName()) === name && (await candidate.isDisplayed())) return candidate;
    }
  } catch {}
  return undefined;
}

/** The window is larger than its page, and only the page knows by how much. */
async function resize(driver: WebDriver, width: number, height: number): Promise<void> {
  const inner = () =>
    driver.executeScript<{ width: number; height: number }>(
      'return { width: innerWidth, height: innerHeight }',
    );
  const window = driver.manage().window();
  await window.setRect({ x: 0, y: 0, width, height });
  const lost = height - (await inner()).height;
  await window.setRect({ x: 0, y: 0, width, height: height + lost });
  await driver.executeAsyncScript('requestAnimationFrame(() => requestAnimationFrame(arguments[0]))');
}
