// `npm run dev`: the same page and the same API, from the sources.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { freePort } from '#testing/free-port.ts';
import { siteSettings } from '#testing/start-site.ts';
import { createVisitor, expect, test } from './fixtures.ts';

const DEV = path.resolve(import.meta.dirname, '..', 'build', 'dev.ts');

test('a developer sees the page, asks for a code and reads the article', async ({ page, site }) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lead-page-dev-'));
  const port = await freePort();
  const dev = spawn(process.execPath, [DEV], {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      PORT: String(port),
      API_PORT: String(await freePort()),
      INSTANCE_FOLDER: folder,
      CAMPAIGN_FOLDER: TEST_CAMPAIGN,
      ...siteSettings('file:./data/leads.db', site.inbox),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  dev.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  try {
    await expect.poll(() => /Local:/.test(output) && /Ready on/.test(output), { timeout: 20_000 }).toBe(true);
    await page.goto(`http://127.0.0.1:${port}/`);
    await createVisitor(page, site).readArticle();
  } finally {
    const ended = once(dev, 'exit');
    dev.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
});
