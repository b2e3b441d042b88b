// Milliseconds from tap to form and from last digit to article, measured inside the page.
import { chromium, type BrowserContextOptions, type Page } from '@playwright/test';

import { chromiumLaunchOptions } from '#testing/chromium.ts';
import { codeIn, type Inbox } from '#testing/inbox.ts';

/** A lower mid-range phone: a processor four times slower, slow 4G. */
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

/** With an inspector attached, V8 would parse React's file again for error positions. Visitors do not wait for these 60 to 150 ms. */
const AS_WITHOUT_INSPECTOR = '--js-flags=--no-enable-lazy-source-positions';

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

const notes = (page: Page) =>
  page.evaluate(() => Object.fromEntries(Object.entries(document.documentElement.dataset)));

const callToAction = (page: Page) => page.getByRole('button', { name: 'Get Your Free Copy', exact: true });

export type Tap = { readonly untilForm: number; readonly worstInteraction: number };

export const measureTap = (url: string, when: 'at once' | 'when idle'): Promise<Tap> =>
  inBrowser(PHONE, async (page) => {
    await slowDown(page);
    await page.addInitScript(observeTap);
    await page.goto(url, { waitUntil: 'commit' });
    const button = callToAction(page);
    await button.waitFor();
    // The visitor's pause before the tap. On this network, the application loads in less than 8 s.
    await page.waitForTimeout(when === 'at once' ? 300 : 8000);
    await button.tap();
    await page.waitForFunction(() => 'usableAfter' in document.documentElement.dataset);
    // Event timings arrive shortly after their paint.
    await page.waitForTimeout(1500);
    const { usableAfter, worst } = await notes(page);
    return { untilForm: Number(usableAfter), worstInteraction: Number(worst ?? 0) };
  });

/** Runs in the page. */
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
 * Milliseconds from the sixth digit to the painted article.
 * @param on a desktop with a warm cache, or a slow phone with a cold one
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
    // A visitor needs longer to find the mail; by then the slow network has loaded all files.
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

/** Runs in the page. */
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
