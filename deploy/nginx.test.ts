// The browser tests run these files (e2e/proxies.spec.ts, path.spec.ts).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

const read = (name: string): string => readFileSync(path.join(import.meta.dirname, name), 'utf8');
const lines = (text: string): string[] => text.split('\n').map((line) => line.trim());
const OF_THE_GROUP = /^proxy_(?:pass|next_upstream) /;

for (const name of ['nginx-path.conf', 'nginx-guides.conf'])
  it(`${name} has the same headers, limits and error pages as nginx.conf`, () => {
    const one = lines(read('nginx.conf')).filter(
      (line) =>
        /^(?:proxy_|gzip |client_max_body_size |add_header |return 503 |default_type )/.test(line) &&
        !OF_THE_GROUP.test(line),
    );
    assert.ok(one.length > 10);
    assert.deepEqual(
      one.filter((line) => !lines(read(name)).includes(line)),
      [],
    );
    assert.match(read(name), /^\s*proxy_pass http:\/\/127\.0\.0\.1:(?:\d+|\$guide_port);$/m);
  });
