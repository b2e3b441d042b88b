import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { Finding } from '#desk/endpoints/figures.ts';
import { findingGroups } from '#desk/web/doctor/finding-groups.ts';

const finding = (check: string, state: Finding['state']): Finding => ({ check, state, sentence: '' });

describe("the doctor's findings", () => {
  it("groups the doctor's findings from worst to best, in order of examination", () => {
    const groups = findingGroups([
      finding('settings', 'ok'),
      finding('SPF', 'problem'),
      finding('disk', 'ok'),
      finding('DKIM', 'warning'),
      finding('DMARC', 'problem'),
    ]);
    assert.deepEqual(
      groups.map(({ state, findings }) => [state, findings.map(({ check }) => check)]),
      [
        ['problem', ['SPF', 'DMARC']],
        ['warning', ['DKIM']],
        ['ok', ['settings', 'disk']],
      ],
    );
  });
});
