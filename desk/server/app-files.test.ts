import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { brotliCompressSync } from 'node:zlib';

import { paperStyles } from '#desk/paper.ts';
import { hashOf } from '#server/http/security-headers.ts';
import { atDesk } from '#testing/desk-under-test.ts';
import { inFolder } from '#testing/folder.ts';
import { words } from '#testing/words.ts';

const INDEX = '<!doctype html><script type="module" src="/assets/app-1a2b.js"></script>';
const SCRIPT = 'console.log("desk")';

it('the desk serves one uncached page without inline code and permanently cached assets', () =>
  inFolder((folder) => {
    mkdirSync(path.join(folder, 'assets'));
    writeFileSync(path.join(folder, 'index.html'), INDEX);
    writeFileSync(path.join(folder, 'assets', 'app-1a2b.js'), SCRIPT);
    writeFileSync(path.join(folder, 'assets', 'app-1a2b.js.br'), brotliCompressSync(SCRIPT));
    return atDesk(
      'sqlite',
      async (app) => {
        for (const url of ['/', '/leads?state=verified', '/person?id=1', '/enter', '/log']) {
          const { statusCode, headers, body } = await app.inject({ url });
          assert.deepEqual([statusCode, body, headers['cache-control']], [200, INDEX, 'no-store'], url);
          const policy = String(headers['content-security-policy']);
          const styles = `style-src 'self' ${hashOf(paperStyles())}; `;
          assert.ok(policy.startsWith(`default-src 'none'; script-src 'self'; ${styles}`), policy);
          assert.doesNotMatch(policy.replace(styles, ''), /unsafe|sha256|https?:/);
          assert.match(policy, /frame-ancestors 'none'/);
        }
        const headers = { 'accept-encoding': 'br' };
        const script = await app.inject({ url: '/assets/app-1a2b.js', headers });
        assert.equal(script.headers['content-encoding'], 'br');
        assert.equal(script.headers['cache-control'], 'public, max-age=31536000, immutable');
        assert.match(String(script.headers['content-type']), /javascript/);
        for (const url of words(`
              /index.html /assets/app-1a2b.js.br /assets/other.js /assets/ /people /leads/1
              /..%2fapp-secret /assets/..%2f..%2fapp-secret`)) {
          const unknown = await app.inject({ url });
          assert.equal(unknown.statusCode, 404, url);
          assert.equal(unknown.headers['cache-control'], 'no-store', url);
        }
      },
      {},
      { files: folder },
    );
  }));
