// Only the text is checked here; the CI workflow builds the image and runs it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { parseEnv } from 'node:util';

import { parse } from 'yaml';

import { isSettingName } from '#server/settings/settings-table.ts';
import { readConfig } from '#server/settings/settings.ts';

type Container = Readonly<Record<string, unknown>> & {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
};
type Compose = {
  readonly services: Readonly<Record<'page' | 'database' | 'caddy' | 'inbox', Container>>;
};

const read = (name: string): string => readFileSync(path.join(import.meta.dirname, name), 'utf8');
const { services } = parse(read('compose.yaml'), { merge: true }) as Compose;
const containers = Object.entries(services);
const example = parseEnv(read('example.env'));

const fillIn = (text: string): string =>
  text.replaceAll(/\$\{(\w+)(?::[?-]([^}]*))?\}/g, (_, name: string) => example[name] || 'x'.repeat(32));

describe('Docker Compose', () => {
  it('compose.yaml restarts its containers and gives them minimal privileges', () => {
    for (const [name, container] of containers) {
      assert.equal(container['read_only'], true, name);
      assert.deepEqual(container['cap_drop'], ['ALL'], name);
      assert.deepEqual(container['security_opt'], ['no-new-privileges:true'], name);
      assert.equal(container['restart'], 'unless-stopped', name);
      assert.ok(container['mem_limit'] && container['pids_limit'], name);
      assert.match(container.image, name === 'page' ? /^lead-page$/ : /:v?\d+\.\d+/);
    }
  });

  it('compose.yaml starts the page with valid settings and contains no secret', () => {
    assert.deepEqual([example['APP_SECRET'], example['POSTGRES_PASSWORD']], ['', '']);
    const environment = Object.fromEntries(
      Object.entries(services.page.environment ?? {}).map(([name, value]) => [name, fillIn(value)]),
    );
    const ours = Object.entries({ ...example, ...environment }).filter(([name]) => isSettingName(name));
    const config = readConfig({ ...Object.fromEntries(ours), APP_SECRET: 'x'.repeat(44) }, '/');
    assert.equal(config.type, 'config', JSON.stringify(config));
    const unknown = Object.keys({ ...example, ...environment }).filter((name) => !isSettingName(name));
    assert.deepEqual(unknown, ['GUIDE_HOST', 'GUIDE_WORDS', 'POSTGRES_PASSWORD']);
  });
});
