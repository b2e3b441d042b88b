import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import path from 'node:path';

import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { filledForm } from '#testing/server-under-test.ts';
import { DEV, startDev, type Dev } from '#testing/start-dev.ts';
import { siteSettings } from '#testing/start-site.ts';
import { createVisitor, expect as quickly, hold, test } from './fixtures.ts';

const READY_WITHIN_MS = 60_000;

// Sources compile on request, and the API restarts whenever words are saved.
test.describe.configure({ timeout: 180_000 });
const expect = quickly.configure({ timeout: 40_000 });

/** A parent process that, like npm, passes on npm_lifecycle_event and waits for its child. */
const AS_NPM = {
  command: [
    '-e',
    `require('node:child_process').spawn(process.execPath, [process.argv[1]], { stdio: 'inherit' });`,
    DEV,
  ],
  env: { npm_lifecycle_event: 'dev' },
};

const replaceIn = (file: string, from: RegExp, to: string) =>
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));

function descendantsOf(pid: number): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/\s+/).map(Number));
  const below = (parent: number): number[] =>
    rows.flatMap(([child = 0, of]) => (of === parent ? [child, ...below(child)] : []));
  return below(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function endsWith({ child, url }: Dev, signal: NodeJS.Signals): Promise<void> {
  const children = descendantsOf(Number(child.pid));
  expect(children.length).toBeGreaterThan(0);
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
  await expect.poll(() => children.filter(isAlive), signal).toEqual([]);
  await expect(fetch(url)).rejects.toThrow();
}

test.describe('development server', () => {
  // The server takes longer to start than each test, so they share one.
  test.describe.configure({ mode: 'serial', timeout: 180_000 });
  let dev: Dev;
  let mailed: number;
  test.beforeAll(async ({ site }) => {
    test.setTimeout(2 * READY_WITHIN_MS);
    mailed = site.inbox.mails.length;
    const env = { ...AS_NPM.env, ...siteSettings('file:./data/leads.db', site.inbox) };
    dev = await startDev(TEST_CAMPAIGN, { ...AS_NPM, env });
  });
  test.afterAll(() => dev?.[Symbol.asyncDispose]());

  test('npm run dev shows saved words, mistakes and mailed codes, loses no form and sends no mail', async ({
    page,
    context,
    site,
    expectedErrors,
  }) => {
    expectedErrors.push(/\[vite\]|500|WebSocket/);
    const { url, output, campaign } = dev;
    const email = path.join(campaign, 'emails/code.yaml');
    const form = path.join(campaign, 'form.yaml');
    expect(output()).toContain('SMTP_URL is not used during development');
    const inbox = await context.newPage();
    await inbox.goto(`${url}/inbox?mail=sample-code`);
    await expect(inbox.getByText('Nothing yet.')).toBeVisible();
    await page.goto(url);

    await test.step('a mistake is shown with its file and line', async () => {
      replaceIn(email, /^subject: .*$/m, "subject: '{cod} for you'");
      writeFileSync(form, 'fields:\n  - { id: phone, label: Phone, kind: telefone }\n');
      const complaint = /code\.yaml(?:, line |:)\d+:? subject: there is no \{cod\}/;
      for (const reloads of [false, true]) {
        if (reloads) await page.reload();
        await expect(page.getByRole('alert')).toContainText(complaint);
        await expect(page.getByRole('alert')).toContainText(
          /form\.yaml, line 2 fields 1, kind: must be one of/,
        );
      }
      await expect(inbox.getByText(complaint)).toBeVisible();
      expect(output()).toMatch(complaint);
    });

    const said = output().length;
    await test.step('saved words are shown, and a form sent meanwhile is accepted', async () => {
      const meanwhile = await beginForm(url, 'on-its-way@example.com');
      const reloads = page.waitForEvent('framenavigated');
      replaceIn(email, /^subject: .*$/m, "subject: '{code} for you'");
      writeFileSync(form, 'fields:\n  - { id: phone, label: Phone, kind: telephone, required: true }\n');
      replaceIn(path.join(campaign, 'landing.yaml'), /^ {2}badge: .*$/m, '  badge: Only today');
      replaceIn(path.join(campaign, 'consent.yaml'), /^text: .*$/ms, 'text: I want to be mailed.\n');
      replaceIn(path.join(campaign, 'article/article.md'), /^## .*$/m, '## Another chapter');
      await reloads;
      // At once, because the API waits only a few seconds for open requests.
      expect(await meanwhile.end()).toBe(202);
      await expect(page.getByText('Only today')).toBeVisible();
      await expect(page.getByRole('alert')).toHaveCount(0);
      await expect(inbox.getByRole('heading', { name: '482913 for you' })).toBeVisible();
      await inbox.goto(`${url}/inbox`);
      await expect(inbox.getByRole('definition').filter({ hasText: 'on-its-way@' })).toBeVisible();
    });

    await test.step('a mailed code appears in the inbox', async () => {
      const slowInbox = await context.newPage();
      const connect = await hold(slowInbox, '**/inbox/events');
      await slowInbox.goto(`${url}/inbox`);
      await expect(slowInbox.getByRole('definition').filter({ hasText: 'on-its-way@' })).toBeVisible();
      const visitor = createVisitor(page, site);
      await visitor.openForm();
      await expect(page.getByText('I want to be mailed.')).toBeVisible();
      await visitor.fillForm();
      await page.getByLabel('Phone *').fill('+44 20 7946 0018');
      await visitor.sendFilledForm();
      await expect(inbox.getByRole('definition').filter({ hasText: visitor.email })).toBeVisible();
      await expect(inbox.getByRole('heading', { name: /^\d{6} for you$/ })).toBeVisible();
      const code = await inbox.getByRole('status').innerText();
      await expect(inbox.frameLocator('iframe').getByText(code)).toBeVisible();
      connect();
      await expect(slowInbox.getByRole('status')).toHaveText(code);
      await visitor.enterCode(code);
      await expect(page.getByRole('heading', { name: 'Another chapter' })).toBeVisible();
      await expect(inbox.getByRole('link', { name: /Your copy of/ }).first()).toBeVisible();
      await expect(inbox.getByRole('link', { name: /New lead: Ada Lovelace/ }).first()).toBeVisible();
    });
    expect(site.inbox.mails.length).toBe(mailed);
    // A funnel step may be sent while the API restarts.
    expect(output().slice(said)).not.toMatch(/Error: (?!connect ECONNREFUSED)/);
  });

  test('npm run dev serves parts of a film, which Safari needs, and public files with any name', async () => {
    const { url, campaign } = dev;
    const part = await fetch(`${url}/media/film.mp4`, { headers: { range: 'bytes=4-7' } });
    expect(part.status).toBe(206);
    expect(part.headers.get('content-range')).toMatch(/^bytes 4-7\/\d+$/);
    expect(await part.text()).toBe('ftyp');
    writeFileSync(path.join(campaign, 'media/Preise für 2027.pdf'), 'Preise');
    const file = await fetch(`${url}/media/Preise%20f%C3%BCr%202027.pdf`);
    expect(await file.text()).toBe('Preise');
  });

  test('the exit of npm ends npm run dev and every process it started', async () => {
    expect(descendantsOf(Number(dev.child.pid))).toHaveLength(2);
    await endsWith(dev, 'SIGKILL');
  });
});

async function beginForm(url: string, email: string) {
  const answers = JSON.stringify(filledForm({ email }));
  const form = request(`${url}/api/leads`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': answers.length, origin: url },
  });
  const answered = once(form, 'response') as Promise<[IncomingMessage]>;
  await new Promise((written) => form.write(answers.slice(0, 10), written));
  return {
    end: async () => {
      form.end(answers.slice(10));
      return (await answered)[0].statusCode;
    },
  };
}

test('Ctrl-C or a crash ends npm run dev and every process it started', async () => {
  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    await using dev = await startDev(TEST_CAMPAIGN);
    await endsWith(dev, signal);
  }
});
