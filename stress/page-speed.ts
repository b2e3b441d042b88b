// Lighthouse on the built page and on a blank page from the same server, then page-waits.ts. Usage: page-speed.ts [runs] [--dry]
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { newestRelease } from '#server/http/releases.ts';
import { DEFAULT_CAMPAIGN, ensureBuilt } from '#testing/built-site.ts';
import { chromiumLaunchOptions, findChromium } from '#testing/chromium.ts';
import { startSite } from '#testing/start-site.ts';
import { measureSixthDigit, measureTap, type Tap } from '#stress/page-waits.ts';
import { argument, report } from '#stress/harness/proof.ts';
import { median } from '#stress/harness/report.ts';
import { PROJECT_FOLDER } from '#build/vite-config.ts';

const LIGHTHOUSE = 'lighthouse@13.5.0';
const runs = argument(0, 5);

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

type LighthouseReport = {
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

/** Repeats a run that lost its trace, as happens on a busy machine. */
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
  const { categories, audits } = JSON.parse(output) as LighthouseReport;
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

/** One heading from the same server: the fastest possible page. */
const DIST = path.join(PROJECT_FOLDER, 'dist');
ensureBuilt(DEFAULT_CAMPAIGN);
const BLANK_FILE = path.join(newestRelease(DIST)?.folder ?? DIST, 'files', 'blank.html');
const BLANK_PAGE =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
  '<title>Blank</title></head><body><h1>Blank page</h1></body></html>';

// The server only serves files that exist at its start.
writeFileSync(BLANK_FILE, BLANK_PAGE);
const site = await startSite({
  campaign: DEFAULT_CAMPAIGN,
  env: { LEADS_PER_IP_PER_HOUR: '0', VERIFY_PER_IP_PER_HOUR: '0' },
}).finally(() => rmSync(BLANK_FILE));
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
    await report(`Lighthouse, ${form}`, [
      `${of(ours, 'performance')}, ${of(ours, 'accessibility')}, ${of(ours, 'bestPractices')}, ${of(ours, 'seo')}`,
      `${of(ours, 'lcp').toFixed(0)} ms`,
      `${of(floor, 'lcp').toFixed(0)} ms`,
      (of(ours, 'lcp') / of(floor, 'lcp')).toFixed(2),
      `${of(ours, 'tbt').toFixed(0)} ms`,
      of(ours, 'cls').toFixed(3),
      `${(of(ours, 'bytes') / 1000).toFixed(1)} kB`,
      String(of(ours, 'requests')),
    ]);
  }
  const taps: string[] = [];
  for (const when of ['when idle', 'at once'] as const) {
    const measured: Tap[] = [];
    for (let index = 0; index < runs; index += 1) measured.push(await measureTap(`${site.url}/`, when));
    say(`tap ${when}: ${JSON.stringify(measured)}`);
    taps.push(
      `${median(measured.map(({ untilForm }) => untilForm)).toFixed(0)} ms ` +
        `${when === 'at once' ? 'if tapped 300 ms after the button appears' : 'once the application is cached'} ` +
        `(worst interaction ${median(measured.map(({ worstInteraction }) => worstInteraction)).toFixed(0)} ms)`,
    );
  }
  const digits: string[] = [];
  for (const [on, what] of [
    ['warm desktop', 'on a desktop with a warm cache'],
    ['slow phone', 'on the slow phone'],
  ] as const) {
    const measured = await measureSixthDigit(site, on, runs);
    say(`sixth digit, ${on}: ${measured.map((time) => time.toFixed(0)).join(', ')}`);
    digits.push(`${median(measured).toFixed(0)} ms ${what}`);
  }
  await report('`measure:speed`', [
    `Slow phone (processor 4 times slower, 1.6 Mbit/s, 150 ms), from tap to form: ${taps.join(', ')}. ` +
      `From the sixth digit to the article: ${digits.join(', ')}. Medians of ${runs}`,
  ]);
} finally {
  await site.close();
}
