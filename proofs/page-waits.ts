// What a visitor waits for after a tap or a key: the form after a tap, the article after the last digit. Times in
// milliseconds, taken inside the page, on the phone of SLOW_NETWORK and SLOW_CPU or on this machine as it is.
import { chromium, type BrowserContextOptions, type Page } from '@playwright/test';

import { chromiumLaunchOptions } from '#testing/chromium.ts';
import { codeIn, type Inbox } from '#testing/inbox.ts';

/** A phone of the lower middle: the processor four times slower, the network a slow 4G. */
const SLOW_CPU = 4;
const SLOW_NETWORK = {
  offline: false,
  latency: 150,
  downloadThroughput: (1.6 * 1e6) / 8,
  uploadThroughput: (0.75 * 1e6) / 8,
};
const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
};

async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', SLOW_NETWORK);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOW_CPU });
}

/**
 * A browser that is steered has an inspector, for which V8 notes with each error where it was made. React makes some while it is
 * loaded, and V8 would read the whole file anew for them, between tap and form: 60 to 150 ms that no visitor waits. With this, the
 * places are noted when the file is compiled.
 */
const AS_WITHOUT_INSPECTOR = '--js-flags=--no-enable-lazy-source-positions';

/** Runs in a new browser, so that nothing is left in a cache by the run before. */
async function inBrowser<Result>(
  context: BrowserContextOptions,
  work: (page: Page) => Promise<Result>,
): Promise<Result> {
  const options = chromiumLaunchOptions({ shell: false });
  const browser = await chromium.launch({ ...options, args: [...options.args, AS_WITHOUT_INSPECTOR] });
  try {
    return await work(await (await browser.newContext(context)).newPage());
  } finally {
    await browser.close();
  }
}

/** What the page noted about itself. */
const notes = (page: Page) =>
  page.evaluate(() => Object.fromEntries(Object.entries(document.documentElement.dataset)));

const callToAction = (page: Page) => page.getByRole('button', { name: 'Get Your Free Copy', exact: true });

export type Tap = { readonly untilForm: number; readonly worstInteraction: number };

/** One tap on the call to action of a slow phone. */
export const measureTap = (url: string, when: 'at once' | 'when idle'): Promise<Tap> =>
  inBrowser(PHONE, async (page) => {
    await slowDown(page);
    await page.addInitScript(observeTap);
    await page.goto(url, { waitUntil: 'commit' });
    const button = callToAction(page);
    await button.waitFor();
    // How long the visitor looks at the button is what is measured; on this line the application is there after 8 s.
    await page.waitForTimeout(when === 'at once' ? 300 : 8000);
    await button.tap();
    await page.waitForFunction(() => 'usableAfter' in document.documentElement.dataset);
    // Event timings are reported a little after the paint they belong to.
    await page.waitForTimeout(1500);
    const { usableAfter, worst } = await notes(page);
    return { untilForm: Number(usableAfter), worstInteraction: Number(worst ?? 0) };
  });

/** Runs in the page: when it was touched, when the form was there and painted, and how slow the worst event was. */
function observeTap(): void {
  let touchedAt = 0;
  let worst = 0;
  addEventListener(
    'pointerdown',
    (event) => {
      touchedAt ||= event.timeStamp;
    },
    true,
  );
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      worst = Math.max(worst, entry.duration);
      document.documentElement.dataset['worst'] = String(worst);
    }
  }).observe({ type: 'event', durationThreshold: 16, buffered: true } as PerformanceObserverInit);
  const look = () => {
    const field = document.querySelector('input[name="name"]');
    if (field === null) {
      requestAnimationFrame(look);
      return;
    }
    // After the next frame it is painted, and takes what is typed.
    requestAnimationFrame(() => {
      setTimeout(() => {
        document.documentElement.dataset['usableAfter'] = String(performance.now() - touchedAt);
      });
    });
  };
  requestAnimationFrame(look);
}

let visitors = 0;

/**
 * The time from the sixth digit to the article, painted and with no fade under way.
 * @param inbox of the site, for its codes
 * @param on a desktop that has been here before, or a slow phone that has not
 * @param runs on the desktop all in one browser, after one that is not counted
 */
export async function measureSixthDigit(
  { url, inbox }: { readonly url: string; readonly inbox: Pick<Inbox, 'waitForMail'> },
  on: 'warm desktop' | 'slow phone',
  runs: number,
): Promise<number[]> {
  const once = async (page: Page): Promise<number> => {
    visitors += 1;
    const email = `reader-${process.pid}-${visitors}@example.com`;
    await page.goto(url);
    await callToAction(page).click();
    await page.getByLabel('Full Name *').fill('Ada Lovelace');
    await page.getByLabel('Company Name *').fill('Analytical Engines');
    await page.getByLabel('Work Email *').fill(email);
    await page.getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Send Verification Code' }).click();
    await page.getByRole('group', { name: '6-digit code' }).waitFor();
    const code = codeIn(await inbox.waitForMail(email));
    // A visitor takes longer than that to find the mail; on the slow line all files are there by then.
    await page.waitForLoadState('networkidle');
    await page.waitForTimeout(1500);
    await page.keyboard.type(code, { delay: 120 });
    await page.waitForFunction(() => 'readableAfter' in document.documentElement.dataset);
    return Number((await notes(page))['readableAfter']);
  };
  const times: number[] = [];
  if (on === 'slow phone') {
    for (let index = 0; index < runs; index += 1)
      times.push(
        await inBrowser(PHONE, async (page) => {
          await slowDown(page);
          await page.addInitScript(observeArticle);
          return once(page);
        }),
      );
    return times;
  }
  return inBrowser({ viewport: { width: 1280, height: 800 } }, async (page) => {
    await page.addInitScript(observeArticle);
    await once(page);
    for (let index = 0; index < runs; index += 1) times.push(await once(page));
    return times;
  });
}

/** Runs in the page: when the last key was pressed, and when the article was there, painted and in full strength. */
function observeArticle(): void {
  let pressedAt = 0;
  addEventListener(
    'keydown',
    (event) => {
      pressedAt = event.timeStamp;
    },
    true,
  );
  const fades = () =>
    document.getAnimations().some(({ effect }) => {
      const element = effect instanceof KeyframeEffect ? effect.pseudoElement : null;
      return element?.startsWith('::view-transition') === true;
    });
  const look = () => {
    if (document.querySelector('article') === null || fades()) {
      requestAnimationFrame(look);
      return;
    }
    requestAnimationFrame(() => {
      setTimeout(() => {
        document.documentElement.dataset['readableAfter'] = String(performance.now() - pressedAt);
      });
    });
  };
  requestAnimationFrame(look);
}
