import assert from 'node:assert/strict';

import { API } from '#shared/api.ts';
import type { ServerUnderTest } from '#testing/server-under-test.ts';

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';

/** Counts views of the page from a source, and reports each step `reported` times. */
export async function seePage(
  { app, service, config }: ServerUnderTest,
  source: string,
  {
    times = 1,
    steps = [],
    reported = 1,
  }: { times?: number; steps?: readonly string[]; reported?: number } = {},
): Promise<void> {
  const url = `/?utm_source=${source}`;
  const headers = { 'user-agent': BROWSER, referer: `${config.publicUrl}${url}` };
  for (let count = 0; count < times; count += 1) service.funnel.pageSeen({ url, headers });
  for (const step of steps)
    for (let count = 0; count < reported; count += 1) {
      const response = await app.inject({ method: 'POST', url: API.funnel, headers, payload: { step } });
      assert.equal(response.statusCode, 204);
    }
  await service.funnel.write();
}
