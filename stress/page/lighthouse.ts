// Lighthouse on the built page and on a blank page from the same server.
import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import { PROJECT_FOLDER } from '#build/vite-config.ts';
import { newestRelease } from '#server/http/releases.ts';
import { DEFAULT_CAMPAIGN, ensureBuilt } from '#testing/built-site.ts';
import { chromiumLaunchOptions, findChromium } from '#testing/chromium.ts';
import { startSite } from '#testing/start-site.ts';
import { defineCase } from '#stress/harness/cases.ts';
import { median } from '#stress/harness/report.ts';

const LIGHTHOUSE = 'lighthouse@13.5.0';
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'] as const;
/** The fastest possible page. */
const BLANK_PAGE =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
  '<title>Blank</title></head><body><h1>Blank page</h1></body></html>';

export const lighthouse = defineCase({ runs: 5 }, async (trial, { runs }) => {
  ensureBuilt(DEFAULT_CAMPAIGN);
  const dist = path.join(PROJECT_FOLDER, 'dist');
  const blank = path.join(newestRelease(dist)?.folder ?? dist, 'files', 'blank.html');
  // The server only serves files that exist at its start.
  writeFileSync(blank, BLANK_PAGE);
  await using site = await startSite({ campaign: DEFAULT_CAMPAIGN }).finally(() => rmSync(blank));
  for (const device of ['mobile', 'desktop'] as const) {
    const [ours, floor]: [Report[], Report[]] = [[], []];
    for (let run = 1; run <= runs; run += 1) {
      floor.push(await runLighthouse(`${site.url}/blank.html`, device));
      ours.push(await runLighthouse(`${site.url}/`, device));
      const lcps = [ours, floor].map((reports) =>
        valueIn('largest-contentful-paint')(reports.at(-1)!).toFixed(0),
      );
      process.stdout.write(`${device} ${run}/${runs}: LCP ${lcps.join(', of the blank page ')} ms\n`);
    }
    const of = (what: (report: Report) => number, reports = ours) => median(reports.map(what));
    const lcp = of(valueIn('largest-contentful-paint'));
    const blankLcp = of(valueIn('largest-contentful-paint'), floor);
    await trial.figure(`Lighthouse, ${device}`, [
      CATEGORIES.map((category) => of(scoreIn(category))).join(', '),
      `${lcp.toFixed(0)} ms`,
      `${blankLcp.toFixed(0)} ms`,
      (lcp / blankLcp).toFixed(2),
      `${of(valueIn('total-blocking-time')).toFixed(0)} ms`,
      of(valueIn('cumulative-layout-shift')).toFixed(3),
      `${(of(valueIn('total-byte-weight')) / 1000).toFixed(1)} kB`,
      String(of(requestsIn)),
    ]);
  }
  return null;
});

type Report = {
  readonly categories: Readonly<Record<string, { readonly score: number | null }>>;
  readonly audits: Readonly<
    Record<
      string,
      {
        readonly numericValue?: number;
        readonly details?: { readonly items?: readonly { readonly url: string }[] };
      }
    >
  >;
};

/** Repeats a run that lost its trace, as happens on a busy machine. */
async function runLighthouse(url: string, device: 'mobile' | 'desktop', attempts = 3): Promise<Report> {
  const parameters = [
    '--yes',
    LIGHTHOUSE,
    url,
    '--quiet',
    '--output=json',
    `--only-categories=${CATEGORIES.join()}`,
    ...(device === 'desktop' ? ['--preset=desktop'] : []),
    `--chrome-flags=--headless ${chromiumLaunchOptions({ shell: false }).args.join(' ')}`,
  ];
  const env = { ...process.env, CHROME_PATH: findChromium({ shell: false }) };
  try {
    const { stdout } = await promisify(execFile)('npx', parameters, { env, maxBuffer: 1e8 });
    const report = JSON.parse(stdout) as Report;
    if (Number.isNaN(scoreIn('performance')(report))) throw new Error('Lighthouse lost its trace.');
    return report;
  } catch (error) {
    if (attempts === 1) throw error;
    return runLighthouse(url, device, attempts - 1);
  }
}

const scoreIn =
  (category: string) =>
  ({ categories }: Report): number =>
    Math.round((categories[category]?.score ?? Number.NaN) * 100);

const valueIn =
  (audit: string) =>
  ({ audits }: Report): number =>
    audits[audit]?.numericValue ?? Number.NaN;

const requestsIn = ({ audits }: Report): number =>
  (audits['network-requests']?.details?.items ?? []).filter(({ url }) => url.startsWith('http')).length;
