// Measures what a visitor waits for, and writes the table into docs/performance.md.
//   node proofs/page-speed.ts [runs]
// Lighthouse, mobile and desktop, on the built site and, in turn with it, on a blank page from the same server; then the
// time from a tap on the call to action to a usable form on a slow phone. Machines are noisy: medians, and ratios within
// one run, are what counts. Nothing here is asserted in a test.
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { chromium, type CDPSession, type Page } from '@playwright/test';

import { newestRelease } from '#server/http/releases.ts';
import { DEFAULT_CAMPAIGN } from '#testing/built-site.ts';
import { chromiumLaunchOptions, findChromium } from '#testing/chromium.ts';
import { startSite } from '#testing/start-site.ts';
import { measuredOn, median, writeReport } from '#proofs/report.ts';
import { PROJECT_FOLDER } from '#build/vite-config.ts';

const LIGHTHOUSE = 'lighthouse@13.5.0';
const runs = Number(process.argv[2] ?? 5);

type Scores = {
  readonly performance: number;
  readonly accessibility: number;
  readonly bestPractices: number;
  readonly seo: number;
  readonly fcp: number;
  readonly lcp: number;
  readonly tbt: number;
  readonly cls: number;
  readonly bytes: number;
  readonly requests: number;
};

const say = (line: string) => process.stdout.write(`${line}\n`);

function run(command: string, parameters: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, parameters, {
      env: { ...process.env, CHROME_PATH: findChromium({ shell: false }) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.once('exit', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`${command} ended with ${code}.`)),
    );
  });
}

type Report = {
  readonly categories: Readonly<Record<string, { readonly score: number | null }>>;
  readonly audits: Readonly<
    Record<
      string,
      {
        readonly numericValue?: number;
        readonly score?: number | null;
        readonly title?: string;
        readonly details?: { readonly items?: readonly { readonly url: string }[] };
      }
    >
  >;
};

/** One run. Lighthouse now and then loses its trace on a busy machine: such a run says nothing and is repeated. */
async function lighthouse(url: string, form: 'mobile' | 'desktop', attempts = 3): Promise<Scores> {
  const output = await run('npx', [
    '--yes',
    LIGHTHOUSE,
    url,
    '--quiet',
    '--output=json',
    '--only-categories=performance,accessibility,best-practices,seo',
    ...(form === 'desktop' ? ['--preset=desktop'] : []),
    `--chrome-flags=--headless ${chromiumLaunchOptions({ shell: false }).args.join(' ')}`,
  ]).catch((error: unknown) => {
    if (attempts > 1) return null;
    throw error;
  });
  if (output === null) return lighthouse(url, form, attempts - 1);
  const { categories, audits } = JSON.parse(output) as Report;
  const score = (name: string): number => Math.round((categories[name]?.score ?? Number.NaN) * 100);
  const value = (name: string): number => audits[name]?.numericValue ?? Number.NaN;
  if (Number.isNaN(score('performance')) && attempts > 1) return lighthouse(url, form, attempts - 1);
  if (process.env['VERBOSE']) {
    for (const [name, audit] of Object.entries(audits)) {
      if (typeof audit.score === 'number' && audit.score < 1)
        say(`    ${name}: ${audit.score} ${audit.title ?? ''}`);
    }
  }
  return {
    performance: score('performance'),
    accessibility: score('accessibility'),
    bestPractices: score('best-practices'),
    seo: score('seo'),
    fcp: value('first-contentful-paint'),
    lcp: value('largest-contentful-paint'),
    tbt: value('total-blocking-time'),
    cls: value('cumulative-layout-shift'),
    bytes: value('total-byte-weight'),
    requests: (audits['network-requests']?.details?.items ?? []).filter(({ url: address }) =>
      address.startsWith('http'),
    ).length,
  };
}

/** A page with one heading and nothing else, served by the same server: the floor of what can be reached. */
const DIST = path.join(PROJECT_FOLDER, 'dist');
const BLANK_FILE = path.join(newestRelease(DIST)?.folder ?? DIST, 'files', 'blank.html');
const BLANK_PAGE =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
  '<title>Blank</title></head><body><h1>Blank page</h1></body></html>';

/** A phone of the lower middle: the processor four times slower, the network a slow 4G. */
const SLOW_CPU = 4;
const SLOW_NETWORK = {
  offline: false,
  latency: 150,
  downloadThroughput: (1.6 * 1e6) / 8,
  uploadThroughput: (0.75 * 1e6) / 8,
};

async function slowPhone(session: CDPSession): Promise<void> {
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', SLOW_NETWORK);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOW_CPU });
}

type Tap = { readonly untilForm: number; readonly worstInteraction: number };

/** One tap on the call to action; times in milliseconds, taken inside the page. */
async function tap(url: string, when: 'at once' | 'when idle'): Promise<Tap> {
  const browser = await chromium.launch(chromiumLaunchOptions({ shell: false }));
  try {
    const context = await browser.newContext({
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
    const page = await context.newPage();
    await slowPhone(await context.newCDPSession(page));
    await page.addInitScript(observe);
    await page.goto(url, { waitUntil: 'commit' });
    const button = page.getByRole('button', { name: 'Get Your Free Copy', exact: true });
    await button.waitFor();
    // How long the visitor looks at the button is what is measured; on this line the application is there after 8 s.
    await page.waitForTimeout(when === 'at once' ? 300 : 8000);
    await button.tap();
    await page.waitForFunction(() => 'usableAt' in document.documentElement.dataset);
    return await readTap(page);
  } finally {
    await browser.close();
  }
}

/** Runs in the page: when it was touched, when the form was there and painted, and how slow the worst event was. */
function observe(): void {
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
        document.documentElement.dataset['usableAt'] = String(performance.now() - touchedAt);
      });
    });
  };
  requestAnimationFrame(look);
}

async function readTap(page: Page): Promise<Tap> {
  // Event timings are reported a little after the paint they belong to.
  await page.waitForTimeout(1500);
  const { usableAt, worst } = await page.evaluate(() =>
    Object.fromEntries(Object.entries(document.documentElement.dataset)),
  );
  return { untilForm: Number(usableAt), worstInteraction: Number(worst ?? 0) };
}

// The server serves the files it finds at its start; the release is left as it was built.
writeFileSync(BLANK_FILE, BLANK_PAGE);
const site = await startSite({ campaign: DEFAULT_CAMPAIGN }).finally(() => rmSync(BLANK_FILE));
const lines: string[] = [];
try {
  for (const form of ['mobile', 'desktop'] as const) {
    const ours: Scores[] = [];
    const floor: Scores[] = [];
    for (let index = 0; index < runs; index += 1) {
      floor.push(await lighthouse(`${site.url}/blank.html`, form));
      ours.push(await lighthouse(`${site.url}/`, form));
      const last = ours.at(-1);
      say(
        `${form} ${index + 1}/${runs}: ${JSON.stringify(last)}; blank page LCP ${floor.at(-1)?.lcp.toFixed(0)}`,
      );
    }
    const of = (scores: readonly Scores[], name: keyof Scores) => median(scores.map((score) => score[name]));
    lines.push(
      `| ${form} | ${of(ours, 'performance')} / ${of(ours, 'accessibility')} / ${of(ours, 'bestPractices')} / ${of(ours, 'seo')} ` +
        `| ${of(ours, 'fcp').toFixed(0)} ms | ${of(ours, 'lcp').toFixed(0)} ms | ${of(floor, 'lcp').toFixed(0)} ms ` +
        `| ${(of(ours, 'lcp') / of(floor, 'lcp')).toFixed(2)} | ${of(ours, 'tbt').toFixed(0)} ms | ${of(ours, 'cls').toFixed(3)} ` +
        `| ${(of(ours, 'bytes') / 1000).toFixed(1)} kB | ${of(ours, 'requests')} |`,
    );
  }
  const taps: string[] = [];
  for (const when of ['when idle', 'at once'] as const) {
    const measured: Tap[] = [];
    for (let index = 0; index < runs; index += 1) measured.push(await tap(`${site.url}/`, when));
    say(`tap ${when}: ${JSON.stringify(measured)}`);
    taps.push(
      `| ${when === 'at once' ? '300 ms after the button appears' : 'once the application is in the cache'} ` +
        `| ${median(measured.map(({ untilForm }) => untilForm)).toFixed(0)} ms ` +
        `| ${median(measured.map(({ worstInteraction }) => worstInteraction)).toFixed(0)} ms |`,
    );
  }
  await writeReport(
    'performance.md',
    'measured',
    [
      `${measuredOn()} Medians of ${runs}.`,
      '| Lighthouse | performance / accessibility / best practices / SEO | FCP | LCP | LCP of a blank page | ratio | TBT | CLS | weight | requests |\n' +
        '| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: |\n' +
        lines.join('\n'),
      '| tap on the call to action, processor 4 times slower, 1.6 Mbit/s, 150 ms | until the form is usable | worst interaction |\n' +
        '| --- | --: | --: |\n' +
        taps.join('\n'),
    ].join('\n\n'),
  );
} finally {
  await site.close();
}
