// Makes the pictures in README and docs, each in a light and a dark version. Usage: make-readme.ts [walk] [inbox] [report] [desk]
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { chromium, type Browser, type BrowserContextOptions, type Page } from '@playwright/test';
import sharp, { type Sharp } from 'sharp';

import { buildDeskApp } from '#desk/server/desk-app.ts';
import { createLink } from '#desk/server/auth/link.ts';
import { findRelease } from '#server/http/releases.ts';
import { CONSENT_VERSION_HEADER } from '#shared/api.ts';
import type { ReportedStep } from '#shared/funnel.ts';
import { DEFAULT_CAMPAIGN, ensureBuilt } from '#testing/built-site.ts';
import { chromiumLaunchOptions } from '#testing/chromium.ts';
import { desk, succeeded } from '#testing/desk.ts';
import { inFolder } from '#testing/folder.ts';
import { freePort } from '#testing/free-port.ts';
import { codeIn, smtpError, type InboxBehaviour } from '#testing/inbox.ts';
import { createRandom } from '#testing/random.ts';
import { createVisitor, filledForm, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { startDev } from '#testing/start-dev.ts';
import { startSite, type Site } from '#testing/start-site.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
const FOLDER = path.join(PROJECT_FOLDER, 'docs', 'pictures');
const THEMES = ['light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const MAX_BYTES = 600_000;
const MAX_SECONDS = 8;

const ELENA = {
  name: 'Elena Marsh',
  company: 'Brightwater Logistics',
  email: 'elena.marsh@example.com',
};
const JONAS = { name: 'Jonas Weber', company: 'Weber & Partner', email: 'jonas.weber@example.com' };
type Person = typeof ELENA;

type Frame = { readonly picture: Buffer; readonly milliseconds: number };

async function inPage<Result>(
  browser: Browser,
  theme: Theme,
  options: BrowserContextOptions,
  work: (page: Page) => Promise<Result>,
): Promise<Result> {
  await using context = await browser.newContext({ ...options, colorScheme: theme });
  await context.addInitScript((value) => localStorage.setItem('theme', value), theme);
  return await work(await context.newPage());
}

async function inBothThemes(
  browser: Browser,
  options: BrowserContextOptions,
  work: (page: Page, shoot: (name: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  for (const theme of THEMES)
    await inPage(browser, theme, options, (page) =>
      work(page, async (name) => {
        const picture = await page.screenshot({ animations: 'disabled' });
        await write(`${name}-${theme}.webp`, sharp(picture).webp({ quality: 84 }));
      }),
    );
}

const waitUntilToastsClose = (page: Page) =>
  page.waitForFunction(() => document.querySelector('li[data-state]') === null);

async function openForm(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.getByRole('button', { name: 'Get Your Free Copy', exact: true }).click();
  await page.getByRole('heading', { name: 'Get Your Free Copy' }).waitFor();
}

async function sendForm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Send Verification Code' }).click();
  await page.getByRole('heading', { name: 'Verify Your Email' }).waitFor();
}

async function fillForm(page: Page, person: Person, onStep: () => Promise<void> = async () => {}) {
  await page.getByLabel('Full Name *').fill(person.name);
  await onStep();
  await page.getByLabel('Company Name *').fill(person.company);
  await onStep();
  await page.getByLabel('Work Email *').fill(person.email);
  await onStep();
  await page.getByRole('checkbox').check();
}

async function makeWalk(browser: Browser): Promise<void> {
  for (const theme of THEMES) {
    await using site = await startSite({ campaign: DEFAULT_CAMPAIGN });
    const options = { viewport: { width: 1280, height: 832 }, deviceScaleFactor: 1.125 };
    const frames = await inPage(browser, theme, options, (page) => photographWalk(page, site));
    await writeAnimation(`walk-${theme}`, frames);
  }
}

async function photographWalk(page: Page, site: Site): Promise<Frame[]> {
  const frames: Frame[] = [];
  const shoot = async (milliseconds: number) => {
    const picture = await page.screenshot({ animations: 'disabled', caret: 'initial' });
    frames.push({ picture, milliseconds });
  };
  await page.goto(site.url);
  await page.waitForLoadState('networkidle');
  await page.evaluate(() => document.fonts.ready);
  await shoot(1600);
  await openForm(page, site.url);
  await shoot(500);
  await fillForm(page, ELENA, () => shoot(350));
  await shoot(600);
  await sendForm(page);
  await waitUntilToastsClose(page);
  await shoot(800);
  const code = codeIn(await site.inbox.waitForMail(ELENA.email));
  for (const digit of code.slice(0, -1)) {
    await page.keyboard.type(digit);
    await shoot(120);
  }
  await page.keyboard.type(code.slice(-1));
  await page.getByRole('article').waitFor();
  await waitUntilToastsClose(page);
  await shoot(1500);
  await page.mouse.wheel(0, 600);
  await page.waitForFunction(() => window.scrollY >= 600);
  await shoot(1200);
  return frames;
}

/** One animation, plus its first frame for readers who prefer reduced motion. */
async function writeAnimation(name: string, frames: readonly Frame[]): Promise<void> {
  const seconds = frames.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / 1000;
  if (seconds > MAX_SECONDS) throw new Error(`${name} takes ${seconds} s; the limit is ${MAX_SECONDS} s.`);
  const animation = sharp(
    frames.map(({ picture }) => picture),
    { join: { animated: true } },
  ).webp({
    quality: 82,
    minSize: true,
    effort: 5,
    loop: 0,
    delay: frames.map(({ milliseconds }) => milliseconds),
  });
  await write(`${name}.webp`, animation);
  await write(`${name}-still.webp`, sharp(frames[0]?.picture).webp({ quality: 84 }));
  process.stdout.write(`${name}: ${frames.length} frames, ${seconds} s\n`);
}

async function write(name: string, picture: Sharp): Promise<void> {
  const { size } = await picture.toFile(path.join(FOLDER, name));
  process.stdout.write(`${name}: ${size} bytes\n`);
  if (size > MAX_BYTES) throw new Error(`${name} has ${size} bytes; the limit is ${MAX_BYTES}.`);
}

const OPERATORS = { viewport: { width: 1080, height: 860 }, deviceScaleFactor: 1.1 };

async function makeInbox(browser: Browser): Promise<void> {
  const env = { MAIL_FROM: 'Master AI-Powered Outreach <guide@example.com>' };
  await using dev = await startDev(DEFAULT_CAMPAIGN, { env });
  await askInDevelopment(browser, dev.url, ELENA, true);
  await askInDevelopment(browser, dev.url, JONAS, false);
  await inBothThemes(browser, OPERATORS, async (page, shoot) => {
    await page.goto(`${dev.url}/inbox`, { waitUntil: 'load' });
    await page.getByText(JONAS.email).first().waitFor();
    await shoot('inbox');
  });
}

const askInDevelopment = (browser: Browser, url: string, person: Person, entersCode: boolean) =>
  inPage(browser, 'light', OPERATORS, async (page) => {
    await openForm(page, url);
    await fillForm(page, person);
    await sendForm(page);
    const inbox = await page.context().newPage();
    await inbox.goto(`${url}/inbox`, { waitUntil: 'load' });
    const heading = inbox.getByRole('heading', { name: / is your code/ });
    await heading.waitFor();
    if (!entersCode) return;
    const [code = ''] = /\d{6}/.exec(await heading.innerText()) ?? [];
    await page.bringToFront();
    await page.keyboard.type(code);
    await page.getByRole('article').waitFor();
    await inbox.getByText('you@example.com').first().waitFor();
  });

const REQUESTS_PER_DAY = [13, 16, 39, 42, 44, 41, 38, 14, 18, 41, 46, 48, 44, 42];
const FIRST_MORNING = Date.UTC(2026, 10, 7, 6);
const DAY_SECONDS = 86_400;
const OPEN_SECONDS = 14 * 3600;
const SOURCES = ['newsletter', 'linkedin', 'google-ads', 'partner'];
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';

const NAMES =
  'Mara Lindgren, Tomás Ferreira, Priya Raman, Jonas Weber, Amélie Fournier, Kofi Mensah, Hanna Kowalska, Daniel Okafor, Sofia Rossi, Liam Byrne';
const COMPANIES =
  'Nordwind Logistik, Ferreira & Filhos, Lakeside Analytics, Weber & Partner, Brightwater Logistics, Harbour Software, Oak Street Media';
function pick(list: string, random: () => number): string {
  const all = list.split(', ');
  return all[Math.floor(random() * all.length)] ?? '';
}

const refusing: InboxBehaviour = {
  onRecipient: (address) => (address.startsWith('refused') ? smtpError(550, 'No such user here') : null),
};

async function makeReport(browser: Browser): Promise<void> {
  await withServer({ engine: 'sqlite', inbox: refusing }, async (server) => {
    await walkTwoWeeks(server);
    await inFolder(async (folder) => {
      const file = path.join(folder, 'report.html');
      await succeeded(desk(server.service, ['report', '--period', '7d', '--out', file]));
      await inBothThemes(browser, OPERATORS, async (page, shoot) => {
        await page.goto(pathToFileURL(file).href);
        await shoot('report');
      });
    });
  });
}

const AT_THE_DESK = { viewport: { width: 1280, height: 860 }, deviceScaleFactor: 1 };

async function makeDesk(browser: Browser): Promise<void> {
  ensureBuilt(DEFAULT_CAMPAIGN);
  const release = findRelease(PROJECT_FOLDER, DEFAULT_CAMPAIGN);
  if (release.type === 'unusable') throw new Error(release.mistake);
  await withServer({ engine: 'sqlite', inbox: refusing }, async (server) => {
    await walkTwoWeeks(server);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const link = createLink(server.now());
    const app = await buildDeskApp(server.service, {
      access: { kind: 'link', url, link },
      files: path.join(release.release.folder, 'desk'),
      isStopping: () => false,
    });
    await app.listen({ host: '127.0.0.1', port });
    try {
      const session = await inPage(browser, 'light', OPERATORS, async (page) => {
        await page.clock.setFixedTime(server.now());
        await page.goto(`${url}/enter#${link.token}`);
        await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor();
        return page.evaluate(() => Object.entries(sessionStorage));
      });
      await inBothThemes(browser, AT_THE_DESK, async (page, shoot) => {
        await page.addInitScript((items) => {
          for (const [name, value] of items) sessionStorage.setItem(name, value);
        }, session);
        await page.clock.setFixedTime(server.now());
        await page.goto(`${url}/leads`);
        const lead = page.getByRole('table').getByRole('link').first();
        await lead.waitFor();
        await page.waitForLoadState('networkidle');
        await shoot('desk-leads');
        await lead.click();
        await page.getByRole('heading', { name: 'Timeline' }).waitFor();
        await page.waitForLoadState('networkidle');
        await shoot('desk-person');
      });
    } finally {
      await app.close();
    }
  });
}

async function walkTwoWeeks(server: ServerUnderTest): Promise<void> {
  const random = createRandom(11);
  let people = 0;
  for (const [day, requests] of REQUESTS_PER_DAY.entries()) {
    server.setClock(FIRST_MORNING + day * DAY_SECONDS * 1000);
    for (let nth = 0; nth < requests; nth += 1) {
      people += 1;
      await visit(server, people, random);
      await server.advance(Math.floor((OPEN_SECONDS / requests) * (0.5 + random() * 0.5)));
    }
    await server.service.funnel.write();
  }
}

async function visit(server: ServerUnderTest, person: number, random: () => number): Promise<void> {
  const source = SOURCES[Math.floor(random() ** 1.6 * SOURCES.length)];
  const url = `/?utm_source=${source}`;
  const headers = { 'user-agent': BROWSER, referer: `http://localhost${url}` };
  const visitor = createVisitor(server, `10.${person >> 8}.${person & 255}.1`);
  const step = (name: ReportedStep) => visitor.post('/api/funnel', { step: name }, { headers });

  const viewers = 5 + Math.floor(random() * 8);
  for (let nth = 0; nth < viewers; nth += 1) server.service.funnel.pageSeen({ url, headers });
  await step('opened');
  if (random() < 0.7) await step('opened');

  const chance = random();
  const email = `${chance > 0.95 ? 'refused' : 'reader'}-${person}@example.com`;
  const form = filledForm({ email, name: pick(NAMES, random), company: pick(COMPANIES, random) });
  const response = await visitor.post('/api/leads', form, {
    headers: { ...headers, [CONSENT_VERSION_HEADER]: server.campaign.consent.version },
  });
  if (response.statusCode !== 202) throw new Error(response.body);
  if (chance > 0.95) return;

  const code = codeIn(await server.inbox.waitForMail(email));
  await server.advance(18 + Math.floor(random() ** 2 * 90));
  if (chance > 0.77) return;
  const wrong = code === '000000' ? '000001' : '000000';
  await visitor.post('/api/verify', { email, code: chance > 0.71 ? wrong : code });
  if (chance > 0.71) return;
  const depth = random();
  if (depth < 0.93) await step('quarter');
  if (depth < 0.78) await step('half');
  if (depth < 0.63) await step('three-quarters');
  if (depth < 0.54) await step('whole');
}

const MAKERS = { walk: makeWalk, inbox: makeInbox, report: makeReport, desk: makeDesk };
const selected = process.argv.slice(2);
mkdirSync(FOLDER, { recursive: true });
const browser = await chromium.launch(chromiumLaunchOptions());
try {
  for (const [name, make] of Object.entries(MAKERS)) {
    if (selected.length === 0 || selected.includes(name)) await make(browser);
  }
} finally {
  await browser.close();
}
