// Where the campaign is, as a process sees it: from its environment, from .env, or the project's own.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';

const PROJECT = path.resolve(import.meta.dirname, '..');
const SETTINGS = path.join(import.meta.dirname, 'settings.ts');

/** What a process with this environment takes as the campaign folder. */
function campaignFolderOf(env: Readonly<Record<string, string>>, cwd: string): string {
  const script = `const { readCampaignFolder } = await import(${JSON.stringify(SETTINGS)}); process.stdout.write(readCampaignFolder());`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    env,
    cwd,
    encoding: 'utf8',
  });
  return stdout;
}

describe('the campaign folder', () => {
  it('is the one that CAMPAIGN_FOLDER names, from where .env lies, and else that of the project', () => {
    const instance = mkdtempSync(path.join(os.tmpdir(), 'campaign-folder-'));
    try {
      const own = path.join(PROJECT, 'campaign');
      const INSTANCE_FOLDER = instance;
      assert.equal(campaignFolderOf({}, os.tmpdir()), own);
      assert.equal(campaignFolderOf({ CAMPAIGN_FOLDER: ' ' }, os.tmpdir()), own);
      assert.equal(
        campaignFolderOf({ CAMPAIGN_FOLDER: 'examples/german' }, os.tmpdir()),
        path.join(PROJECT, 'examples', 'german'),
      );
      assert.equal(campaignFolderOf({ INSTANCE_FOLDER }, os.tmpdir()), own);
      writeFileSync(path.join(instance, '.env'), 'PORT=none\nCAMPAIGN_FOLDER="words"\n');
      assert.equal(campaignFolderOf({ INSTANCE_FOLDER }, os.tmpdir()), path.join(instance, 'words'));
      assert.equal(
        campaignFolderOf({ INSTANCE_FOLDER, CAMPAIGN_FOLDER: '/srv/words' }, os.tmpdir()),
        '/srv/words',
        'the environment wins over .env',
      );
    } finally {
      rmSync(instance, { recursive: true });
    }
  });
});
